// Whole models: what people export.
#include "onnx/export/case_writer.h"

namespace anyshape::test {
namespace {

using Calls = std::vector<std::vector<Tensor>>;

Tensor tokens(int64_t rows, int64_t time) { return cast(random::uniform({rows, time}) * 50, Dtype::i32); }

Calls texts() { return {{tokens(3, 7)}, {tokens(1, 1)}, {tokens(5, 12)}, {tokens(2, 30)}, {tokens(8, 4)}}; }

Calls images(int64_t least) {
  Calls calls;
  for (const auto& [rows, height, width] :
       std::vector<std::tuple<int64_t, int64_t, int64_t>>{{1, 32, 32}, {2, 40, 56}, {3, 64, 33}, {1, 47, 50}, {2, 32, 65}})
    calls.push_back({random::normal({rows, height + least, width + least, 3})});
  return calls;
}

class Encoder : public Layer {
 public:
  Tensor call(const Tensor& text, const CallContext&) override {
    Tensor x = letter_(text) + position_(arange(text.shape()[1]));
    for (size_t block = 0; block < 2; ++block) {
      const Tensor before = norms_[block](x);
      x = x + attention_[block](before, before);
      x = x + narrow_[block](wide_[block](after_[block](x)));
    }
    return logits_(x);
  }
  Encoder() {
    for (int block = 0; block < 2; ++block) {
      norms_.push_back(child(LayerNormalization()));
      after_.push_back(child(LayerNormalization()));
      attention_.push_back(child(MultiHeadAttention(2, 8)));
      wide_.push_back(child(Dense(32, {.activation = "gelu"})));
      narrow_.push_back(child(Dense(16)));
    }
  }

 private:
  Embedding letter_ = child(Embedding(50, 16)), position_ = child(Embedding(64, 16));
  std::vector<LayerNormalization> norms_, after_;
  std::vector<MultiHeadAttention> attention_;
  std::vector<Dense> wide_, narrow_;
  Dense logits_ = child(Dense(50));
};

class Causal : public Layer {
 public:
  Tensor call(const Tensor& text, const CallContext&) override {
    const Tensor x = letter_(text);
    return logits_(x + attention_({x, x}, {.use_causal_mask = true}));
  }

 private:
  Embedding letter_ = child(Embedding(50, 16));
  MultiHeadAttention attention_ = child(MultiHeadAttention(4, 4));
  Dense logits_ = child(Dense(50));
};

void write_functional(CaseWriter& writer) {
  const Tensor text = input({dynamic}, {.name = "text", .dtype = Dtype::i32}), facts = input({4}, {.name = "facts"});
  const Tensor read = GlobalAveragePooling1D()(Embedding(50, 8)(text)), both = Concatenate()({read, facts});
  const Model model({.inputs = {text, facts},
                     .outputs = {{"price", Dense(1)(both)}, {"kind", Dense(3, {.activation = "softmax"})(both)}},
                     .name = "shop"});
  Calls calls;
  for (const auto& [rows, time] : {std::pair<int64_t, int64_t>{3, 5}, {1, 2}, {7, 9}, {2, 31}, {4, 1}})
    calls.push_back({tokens(rows, time), random::normal({rows, 4})});
  writer.write("model functional", model, {}, calls);
}

template <class Network>
void write_built(CaseWriter& writer, const std::string& name, const Network& network, const TensorSpec& spec, const Calls& calls) {
  network.outputs(calls[0]);
  writer.write("model " + name, Model(network), {.inputs = {spec}}, calls);
}

Tensor newton(const Tensor& x) {
  return while_loop([&](const Tensor& y) { return max(abs(y * y - x)) > 1e-3f; }, [&](const Tensor& y) { return (y + x / y) * 0.5f; },
                    maximum(x, 1.0f));
}

}  // namespace

void write_models(CaseWriter& writer) {
  random::set_seed(7);
  const Dim batch = dim("batch"), time = dim("time");
  const Calls vectors{{random::normal({3, 12})},
                      {random::normal({1, 12})},
                      {random::normal({64, 12})},
                      {random::normal({7, 12})},
                      {random::normal({0, 12})}};
  write_built(writer, "mlp",
              Sequential(Dense(32, {.activation = "relu"}), LayerNormalization(), Dense(16, {.activation = "gelu"}),
                         Dense(5, {.activation = "softmax"})),
              spec(f32, {batch, 12}, "x"), vectors);
  write_built(writer, "lstm text", Sequential(Embedding(50, 16), LSTM(24), Dense(1, {.activation = "sigmoid"})),
              spec(i32, {batch, time}, "text"), texts());
  write_built(writer, "gru text", Sequential(Embedding(50, 16), GRU(24, {.return_sequences = true}), Dense(4)),
              spec(i32, {batch, time}, "text"), texts());
  write_built(writer, "bidirectional", Sequential(Embedding(50, 16), Bidirectional(LSTM(8, {.return_sequences = true})), Dense(2)),
              spec(i32, {batch, time}, "text"), texts());
  write_built(writer, "encoder", layer(Encoder()), spec(i32, {batch, time}, "text"), texts());
  write_built(writer, "causal", layer(Causal()), spec(i32, {batch, time}, "text"), texts());
  write_built(writer, "convnet",
              Sequential(Conv2D(8, 3, {.padding = "same"}), BatchNormalization(), Activation("relu"), MaxPooling2D(2),
                         Conv2D(16, 3, {.strides = 2, .padding = "same"}), BatchNormalization(), Activation("relu"), UpSampling2D(2),
                         GlobalAveragePooling2D(), Dense(4)),
              spec(f32, {batch, dim("height"), dim("width"), 3}, "image"), images(0));
  write_functional(writer);
  for (const auto& [name, model] : {std::pair<std::string, Model>{"resnet18", applications::resnet18({.classes = 10})},
                                    {"resnet50", applications::resnet50({.classes = 10})},
                                    {"mobilenet", applications::mobilenet({.classes = 10})}}) {
    writer.write("model " + name, model, {}, images(0));
  }
  writer.write("function newton", [](const std::vector<Tensor>& in) { return std::vector{newton(in[0])}; },
               {{random::uniform({4}) + 1},
                {random::uniform({1}) + 2},
                {random::uniform({9}) * 5 + 1},
                {random::uniform({2}) + 1},
                {random::uniform({30}) + 1}});
  for (const Dtype dtype : {Dtype::f16, Dtype::f64}) {
    const auto of = [&](const Shape& shape) { return std::vector{cast(random::normal(shape), dtype)}; };
    writer.write("function " + std::string(to_string(dtype)),
                 [](const std::vector<Tensor>& in) {
                   return std::vector{softmax(matmul(in[0], transpose(in[0])) * 0.25f + 1, {.axis = -1}), relu(in[0])};
                 },
                 {of({3, 4}), of({1, 2}), of({5, 5}), of({2, 9}), of({8, 3})});
  }
  const auto rows_of = [](std::vector<int64_t> lengths) {
    std::vector<std::vector<float>> rows;
    for (const int64_t length : lengths) {
      rows.emplace_back();
      for (int64_t i = 0; i < length; ++i) rows.back().push_back(static_cast<float>((i * 7 + length * 3) % 11) - 5);
    }
    return std::vector{ragged(rows)};
  };
  writer.write("function ragged",
               [](const std::vector<Tensor>& in) {
                 const Tensor shares = softmax(in[0], {.axis = 1});
                 return std::vector{shares * 2, sum(in[0], {.axis = 1}), max(in[0], {.axis = 1}), to_padded(in[0])};
               },
               {rows_of({3, 1, 4}), rows_of({2}), rows_of({1, 1, 1, 9}), rows_of({5, 2}), rows_of({6, 6, 6, 1, 2, 3})});
  writer.write("function branch",
               [](const std::vector<Tensor>& in) {
                 return std::vector{cond(sum(in[0]) > 0.0f, [&] { return in[0] * 2 + in[1]; }, [&] { return in[1] - in[0]; })};
               },
               {{random::normal({4}), random::normal({4})},
                {ones({3}), random::normal({3})},
                {-ones({5}), random::normal({5})},
                {random::normal({1}), ones({1})},
                {random::normal({9}), random::normal({9})}});
}

}  // namespace anyshape::test
