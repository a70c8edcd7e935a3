// Convolutions against golden numbers of Keras, for sizes that one trace has not seen, and with what follows them.
#include "runtime/cpu/pool.h"
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

const Shape images = {dim("n"), dim("h"), dim("w"), 3};

TEST(Convolution, one_trace_serves_every_size) {
  const Tensor kernel = random::normal({3, 3, 3, 8});
  const auto network = [&](const Tensor& x) {
    return conv(depthwise_conv(conv(x, kernel, {.strides = 2, .padding = "same"}), ones({3, 3, 8, 1}), {.padding = "same"}),
                ones({1, 1, 8, 2}), {.padding = 1});
  };
  auto traced = function([&](Tensor x) { return network(x); }, {.name = "network", .signature = {spec(f32, images, "x")}});
  for (int64_t size = 0; size < 20; ++size) {
    const Tensor x = random::normal({size % 3 + (size > 0 ? 1 : 0), size, 19 - size, 3});
    EXPECT_TRUE(all_close(traced(x), network(x), {.relative = 1e-5, .absolute = 1e-4})) << size;
  }
  EXPECT_EQ(traced.stats().traces, 1);
  EXPECT_EQ(traced.stats().compiles, 1);
}

TEST(Convolution, windows_that_do_not_fit_are_found_by_a_call_of_a_trace) {
  auto traced = function([](Tensor x) { return conv(x, ones({5, 5, 3, 2}), {.dilation = 2}); },
                         {.name = "windows", .signature = {spec(f32, images, "x")}});
  EXPECT_TRUE(traced(ones({1, 9, 12, 3})).shape() == (Shape{1, 1, 4, 2}));
  try {
    traced(ones({1, 9, 8, 3}));
    ADD_FAILURE() << "a window that does not fit";
  } catch (const ShapeError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("conv: axis 2 has w elements, too few for 5 taps spread over 9"), std::string::npos) << text;
    EXPECT_NE(text.find("expected at least 9 elements, or padding \"same\""), std::string::npos) << text;
  }
}

// A block of a residual network: what stands behind a convolution runs on its blocks.
Tensor block_of(const Tensor& x, const std::vector<Tensor>& w) {
  const Tensor y = relu(conv(x, w[0], {.padding = "same"}) * w[1] + w[2]);
  return relu(conv(y, w[3], {.padding = "same"}) + w[2] + x);
}

std::vector<Tensor> block_weights() {
  return {random::normal({3, 3, 3, 3}), random::normal({3}), random::normal({3}), random::normal({1, 3, 3, 3})};
}

TEST(Convolution, what_follows_element_by_element_runs_on_its_blocks) {
  const std::vector<Tensor> w = block_weights();
  auto traced = function([&](Tensor x) { return block_of(x, w); }, {.name = "block", .signature = {spec(f32, images, "x")}});
  for (const int64_t size : {5, 1, 12, 33}) {
    const Tensor x = random::normal({2, size, size + 2, 3});
    EXPECT_TRUE(all_close(traced(x), block_of(x, w), {.relative = 1e-5, .absolute = 1e-4})) << size;
  }
  const std::string text = traced.explain();
  EXPECT_NE(text.find("\n  2 kernels"), std::string::npos) << text;
  EXPECT_NE(text.find("mixed"), std::string::npos) << text;
  EXPECT_NE(text.find("convolution, multiply, add, "), std::string::npos) << text;
}

TEST(Convolution, alone_it_is_told_as_what_it_is) {
  const Tensor kernel = ones({3, 3, 3, 8});
  auto traced = function([&](Tensor x) { return conv(x, kernel, {.strides = 2, .padding = "same"}); },
                         {.name = "alone", .signature = {spec(f32, images, "x")}});
  traced(ones({2, 8, 8, 3}));
  const std::string text = traced.explain();
  EXPECT_NE(text.find("1  convolution     13.8 kFLOP"), std::string::npos) << text;
}

std::vector<Tensor> step_of(const Tensor& x, const std::vector<Tensor>& w) {
  GradientTape tape;
  std::vector<Tensor> sources = {x};
  sources.insert(sources.end(), w.begin(), w.end());
  for (const Tensor& source : sources) tape.watch(source);
  return tape.gradient(sum(square(max_pool(block_of(x, w), 2, {.padding = "same"}))), sources);
}

TEST(Convolution, gradients_of_a_traced_block_are_the_eager_ones_at_any_size) {
  const std::vector<Tensor> w = block_weights();
  auto traced = function([&](Tensor x) { return step_of(x, w); }, {.name = "step", .signature = {spec(f32, images, "x")}});
  for (const int64_t size : {6, 1, 0, 9, 17}) {
    const Tensor x = random::normal({2, size, size + 1, 3});
    const std::vector<Tensor> got = traced(x), wanted = step_of(x, w);
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_TRUE(all_close(got[i], wanted[i], {.relative = 1e-4, .absolute = 1e-3 * static_cast<double>(size + 1)})) << size << ", " << i;
  }
  EXPECT_EQ(traced.stats().traces, 1);
}

TEST(Convolution, bits_are_those_of_one_thread_for_any_number_of_threads) {
  const std::vector<Tensor> w = block_weights();
  const Tensor x = random::normal({3, 37, 21, 3});
  auto traced = function([&](Tensor in) { return step_of(in, w); }, {.name = "step"});
  std::vector<Tensor> alone;
  for (const int threads : {1, 2, 3, 8}) {
    const runtime::ScopedPool pool(threads);
    const std::vector<Tensor> got = traced(x);
    if (alone.empty()) alone = got;
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(all_equal(got[i], alone[i])) << threads << " threads, " << i;
  }
}

// A recurrent convolution: rows are images, which do not meet.
TEST(Convolution, in_a_scan_it_is_what_a_loop_gives) {
  const Tensor kernel = random::normal({3, 3, 2, 2}) * 0.2F;
  const auto recurrent = [&](const Tensor& steps, const Tensor& state) {
    const auto cell = [&](const Tensor& h, const Tensor& in) {
      const Tensor next = tanh(conv(h, kernel, {.padding = "same"}) + in);
      return std::pair(next, next);
    };
    return scan(cell, state, steps).second;
  };
  auto traced = function([&](Tensor steps, Tensor state) { return recurrent(steps, state); }, {.name = "recurrent"});
  const auto gradients = [&](const Tensor& steps, const Tensor& state) {
    GradientTape tape;
    tape.watch(steps), tape.watch(state);
    return tape.gradient(sum(square(recurrent(steps, state))), std::vector<Tensor>{steps, state});
  };
  auto traced_gradients = function([&](Tensor steps, Tensor state) { return gradients(steps, state); }, {.name = "recurrent_gradients"});
  for (const int64_t size : {4, 1, 9}) {
    const Tensor steps = random::normal({5, 3, size, size + 1, 2}), state = random::normal({3, size, size + 1, 2});
    EXPECT_TRUE(all_close(traced(steps, state), recurrent(steps, state), {.relative = 1e-5, .absolute = 1e-5})) << size;
    const std::vector<Tensor> got = traced_gradients(steps, state), wanted = gradients(steps, state);
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(all_close(got[i], wanted[i], {.relative = 1e-4, .absolute = 1e-4})) << size;
  }
}

}  // namespace
}  // namespace anyshape
