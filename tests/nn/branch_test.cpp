// A plain `if` on a tensor inside an activation, a Lambda or a layer's call: one branch in the graph, whatever stands around it.
#include "function/tracer.h"
#include "graph/regions.h"
#include "nn/notes.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

Tensor branching(const Tensor& x) {
  if (mean(x) > 0.5F) return relu(x);
  return sigmoid(x);
}

struct Count {
  size_t nodes = 0;
  size_t branches = 0;
};

void add(const graph::Graph& graph, Count& count) {
  for (const graph::Node* node : graph.nodes()) {
    ++count.nodes;
    if (node->op->name == "cond") ++count.branches;
    for (const graph::NamedRegion& region : graph::regions_of(*node)) add(*region.graph, count);
  }
}

// The step of a network of ten layers, the fifth with this activation: forward and backward.
Count step_with(const ActivationFunction& fifth) {
  std::vector<AnyLayer> layers;
  for (int i = 0; i < 10; ++i) layers.push_back(Dense(4, {.activation = i == 4 ? fifth : ActivationFunction(relu)}));
  const Sequential network(layers);
  network.build({dynamic, 4});
  const std::vector<TensorSpec> specs = {{f32, {dim("batch"), 4}, "x"}};
  Bindings sizes;
  sizes.set(specs[0].shape[0], 3);
  const function_detail::Trace trace = function_detail::Tracer("step", specs, sizes).run([&](std::span<const Tensor> inputs) {
    GradientTape tape;
    const Tensor loss = sum(network(inputs[0]));
    std::vector<Tensor> results = tape.gradient(loss, network.trainable_variables());
    results.push_back(loss);
    return FunctionResults{.tensors = results};
  });
  Count count;
  add(*trace.graph, count);
  return count;
}

TEST(Branch, in_an_activation_of_ten_layers_adds_one_to_the_graph) {
  const Count plain = step_with(relu), branched = step_with(branching);
  EXPECT_EQ(plain.branches, 0U);
  EXPECT_EQ(branched.branches, 2U);  // forward, and its gradient
  EXPECT_LE(branched.nodes, plain.nodes + 40) << "the network was traced twice";
}

struct Gate : Layer {
  Dense scale = child(Dense(2, {.kernel_initializer = "ones"}));
  bool supports_masking() const override { return true; }
  Tensor call(const Tensor& x, const CallContext&) override {
    const Tensor y = scale(x);
    if (sum(x) > 0) return y;
    return -y;
  }
};

TEST(Branch, in_a_layer_takes_the_side_that_eager_code_takes) {
  const AnyLayer gate = layer(Gate()), lambda = Lambda(branching), activation = Activation(branching);
  for (const AnyLayer& each : {gate, lambda, activation}) {
    each(ones({1, 1, 3}));
    auto traced = function([&](Tensor x) { return each(x); }, {.name = each.name()});
    for (const float sign : {1.0F, -1.0F}) {
      const Tensor x = sign * (ones({2, 3, 3}) + 1);
      EXPECT_TRUE(all_close(traced(x), each(x))) << each.name();
      const Tensor rows = ragged_from_lengths(sign * ones({5, 3}), tensor<int64_t>({2, 3}));
      EXPECT_TRUE(all_close(traced(rows).values(), each(rows).values())) << each.name();
    }
    EXPECT_EQ(traced.stats().traces, 2);  // dense and ragged
  }
}

TEST(Branch, masks_pass_it) {
  const AnyLayer gate = layer(Gate());
  const Tensor mask = tensor<bool>({{true, false}});
  gate(ones({1, 2, 3}));
  auto traced = function([&](Tensor x) { return nn::mask_of(gate(nn::with_mask(x, mask))); });
  EXPECT_TRUE(all_equal(traced(ones({1, 2, 3})), mask));
}

}  // namespace
}  // namespace anyshape::test
