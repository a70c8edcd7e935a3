// Convolutions against golden numbers of Keras, for sizes that one trace has not seen, and with what follows them.
#include "support/golden.h"
#include "support/golden_values.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <set>

namespace anyshape {
namespace {

using support::GoldenCase;
using support::Json;

PerAxis numbers_of(const GoldenCase& golden, const char* name) {
  const Json* const found = golden.config.find(name);
  if (found == nullptr) return 1;
  return found->is_array() ? PerAxis(found->integers()) : PerAxis(found->integer());
}
std::string text_of(const GoldenCase& golden, const char* name, const std::string& otherwise) {
  const Json* const found = golden.config.find(name);
  return found == nullptr ? otherwise : found->string();
}

// A layer of Keras by the ops that it is made of. Its weights come in the file's order.
Tensor run_layer(const GoldenCase& golden, const Tensor& x, const std::vector<Tensor>& weights) {
  const Padding padding = text_of(golden, "padding", "valid");
  const PerAxis strides = numbers_of(golden, "strides"), dilation = numbers_of(golden, "dilation_rate");
  Tensor y;
  if (golden.op == "DepthwiseConv2D") {
    y = depthwise_conv(x, weights[0], {.strides = strides, .padding = padding, .dilation = dilation});
  } else if (golden.op == "Conv2DTranspose") {
    y = conv_transpose(x, weights[0], {.strides = strides, .padding = padding, .dilation = dilation});
  } else if (golden.op == "SeparableConv2D") {
    y = conv(depthwise_conv(x, weights[0], {.strides = strides, .padding = padding, .dilation = dilation}), weights[1]);
  } else {
    const PerAxis groups = numbers_of(golden, "groups");
    y = conv(x, weights[0], {.strides = strides, .padding = padding, .dilation = dilation, .groups = groups.numbers()[0]});
  }
  const bool has_bias = weights.size() > (golden.op == "SeparableConv2D" ? 2U : 1U);
  if (has_bias) y = y + weights.back();
  return text_of(golden, "activation", "linear") == "relu" ? relu(y) : y;
}

const std::set<std::string> layers = {"Conv1D", "Conv2D", "DepthwiseConv2D", "Conv2DTranspose", "SeparableConv2D"};

TEST(Convolution, agrees_with_keras_in_results_and_gradients) {
  int cases = 0;
  for (const GoldenCase& golden : support::golden_cases()) {
    if (golden.group != "conv" || !layers.contains(golden.op)) continue;
    ++cases;
    SCOPED_TRACE(golden.name);
    const Tensor x = test::to_tensor(golden.inputs["x"]);
    std::vector<Tensor> sources = {x};
    for (const auto& [name, weight] : golden.weights) sources.push_back(test::to_tensor(weight));
    GradientTape tape;
    for (const Tensor& source : sources) tape.watch(source);
    const Tensor y = run_layer(golden, x, {sources.begin() + 1, sources.end()});
    EXPECT_EQ(support::difference(test::to_golden(y), golden.outputs["0"], golden.rtol, golden.atol), "");
    const auto gradients = tape.gradient(sum(y * test::to_tensor(golden.upstream["0"])), sources);
    EXPECT_EQ(support::difference(test::to_golden(gradients[0]), golden.gradients["x"], golden.rtol, golden.atol), "");
    size_t next = 1;
    for (const auto& [name, weight] : golden.weights) {
      EXPECT_EQ(support::difference(test::to_golden(gradients[next++]), golden.weight_gradients[name], golden.rtol, golden.atol), "")
          << name;
    }
  }
  EXPECT_EQ(cases, 22);
}

}  // namespace
}  // namespace anyshape
