// What onnx::save writes, onnx::load reads: the same numbers for sizes that neither has seen.
#include <anyshape/anyshape.h>
#include <anyshape/onnx.h>
#include <anyshape/onnx_export.h>

#include "support/temporary_folder.h"

#include <gtest/gtest.h>

namespace anyshape {
namespace {

using Calls = std::vector<std::vector<Tensor>>;

void expect_same_back(const AnyLayer& model, const onnx::SaveOptions& options, const Calls& calls) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "model.onnx";
  onnx::save(model, file, options);
  const Model read = onnx::load(file);
  for (const std::vector<Tensor>& inputs : calls) {
    const std::vector<Tensor> want = model.outputs(inputs, {.training = false}).tensors(),
                              got = read.outputs(inputs, {.training = false}).tensors();
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_TRUE(got[i].shape().same_as(want[i].shape())) << to_string(got[i].shape()) << " " << to_string(want[i].shape());
      EXPECT_TRUE(all_close(got[i], want[i], {.relative = 1e-4, .absolute = 1e-5}));
    }
  }
}

const Dim batch = dim("batch"), steps = dim("time");

Calls tokens() {
  Calls calls;
  for (const auto& [rows, time] : {std::pair<int64_t, int64_t>{3, 4}, {1, 1}, {5, 9}, {2, 30}})
    calls.push_back({cast(random::uniform({rows, time}) * 20, i32)});
  return calls;
}

TEST(OnnxRoundTrip, dense_layers) {
  const Sequential model(Dense(16, {.activation = "relu"}), LayerNormalization(), Dense(8, {.activation = "gelu"}),
                         Dense(3, {.activation = "softmax"}));
  const Calls calls{{random::normal({4, 5})}, {random::normal({1, 5})}, {random::normal({33, 5})}};
  model.outputs(calls[0]);
  expect_same_back(model, {.inputs = {spec(f32, {batch, 5}, "x")}}, calls);
}

TEST(OnnxRoundTrip, recurrent_layers) {
  const Calls calls = tokens();
  for (const bool is_lstm : {true, false}) {
    const AnyLayer recurrent = is_lstm ? AnyLayer(LSTM(6, {.return_sequences = true})) : AnyLayer(GRU(6, {.return_sequences = true}));
    const Sequential model(Embedding(20, 4), recurrent, SimpleRNN(5), Dense(1));
    model.outputs(calls[0]);
    expect_same_back(model, {.inputs = {spec(i32, {batch, steps}, "text")}}, calls);
  }
}

TEST(OnnxRoundTrip, images) {
  const Sequential model(Conv2D(4, 3, {.strides = 2, .padding = "same"}), BatchNormalization(), Activation("relu6"), MaxPooling2D(2),
                         DepthwiseConv2D(3), GlobalAveragePooling2D(), Dense(2));
  const Calls calls{{random::normal({2, 16, 16, 3})}, {random::normal({1, 23, 18, 3})}, {random::normal({3, 40, 33, 3})}};
  model.outputs(calls[0]);
  expect_same_back(model, {.inputs = {spec(f32, {batch, dim("height"), dim("width"), 3}, "image")}}, calls);
}

TEST(OnnxRoundTrip, attention) {
  class Block : public Layer {
   public:
    Tensor call(const Tensor& text, const CallContext&) override {
      const Tensor x = letter_(text);
      return x + attention_({x, x}, {.use_causal_mask = true});
    }

   private:
    Embedding letter_ = child(Embedding(20, 8));
    MultiHeadAttention attention_ = child(MultiHeadAttention(2, 4));
  };
  const AnyLayer model = layer(Block());
  const Calls calls = tokens();
  model.outputs(calls[0]);
  expect_same_back(model, {.inputs = {spec(i32, {batch, steps}, "text")}}, calls);
}

}  // namespace
}  // namespace anyshape
