// Whole programs on the grid give the bits that the processor gives: random graphs with their gradients, control flow, rows of unequal length,
// data-dependent sizes, training. (The golden cases run on it, too: tests/CMakeLists.txt builds their files into this program.)
#include "check/random_graph.h"
#include "check/test_share.h"
#include "check/traced.h"
#include "function/same_bits.h"
#include "grid/grid_backend.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using runtime::ScopedBackend;

// What `make` gives on the grid and on the processor.
void expect_same_on_both(const std::function<std::vector<Tensor>()>& make) {
  std::vector<Tensor> here, there;
  grid().wait();  // for what was made there: the processor reads it
  {
    const ScopedBackend on_processor(runtime::cpu_backend());
    here = make();
  }
  {
    const ScopedBackend on_grid(grid());
    const int runs = grid().runs;
    there = make();
    grid().wait();
    EXPECT_GT(grid().runs, runs);
  }
  const ScopedBackend on_processor(runtime::cpu_backend());
  ASSERT_EQ(here.size(), there.size());
  for (size_t i = 0; i < here.size(); ++i)
    EXPECT_TRUE(same_bits(there[i], here[i])) << "result " << i << ": " << there[i] << "\n" << here[i];
}

void check_graphs(uint64_t first, int all) {
  const uint64_t end = first + static_cast<uint64_t>(check::share_of(all, 10));
  for (uint64_t seed = first; seed < end && !testing::Test::HasFailure(); ++seed) {
    const Dtype dtype = seed % 2 == 0 ? Dtype::f64 : Dtype::f32;
    const check::RandomGraph graph = check::draw_graph(seed);
    check::Traced traced([&](std::span<const Tensor> in) { return check::run_graph(graph, in); });
    for (const int call : {0, 3}) {
      const std::vector<Tensor> arguments = check::draw_arguments(graph, call, dtype);
      expect_same_on_both([&] { return traced(arguments); });
      if (testing::Test::HasFailure()) std::cout << "seed " << seed << "\n" << check::to_string(graph);
    }
  }
}

TEST(GridPrograms, run_there_without_being_told) { EXPECT_EQ(runtime::current_backend().name(), "grid"); }

TEST(GridPrograms, random_graphs_0_to_39) { check_graphs(0, 40); }
TEST(GridPrograms, random_graphs_40_to_79) { check_graphs(40, 40); }

TEST(GridPrograms, convolutions_pooling_and_resizing_with_their_gradients) {
  const random::SeedScope seeds(12);
  const Tensor kernel = random::normal({3, 3, 2, 4}), bias = random::normal({4});
  auto step = function([](Tensor x, Tensor kernel, Tensor bias) {
    GradientTape tape;
    tape.watch(x), tape.watch(kernel);
    const Tensor y = relu(conv(x, kernel, {.strides = 2, .padding = "same"}) + bias);
    const Tensor z = average_pool(max_pool(upsample(y, 2), 3, {.strides = 1, .padding = "same"}), 2);
    std::vector<Tensor> all = tape.gradient(sum(z * z), std::vector<Tensor>{x, kernel});
    all.push_back(z);
    return all;
  });
  for (const Dtype dtype : {f32, f64}) {
    for (const int64_t size : {7, 1, 4}) {
      const Tensor x = random::normal({2, size, size + 1, 2});
      expect_same_on_both([&] { return step(cast(x, dtype), cast(kernel, dtype), cast(bias, dtype)); });
    }
  }
}

TEST(GridPrograms, control_flow_and_data_dependent_sizes) {
  auto branch = function([](Tensor x) { return cond(sum(x) > 0.0F, [&] { return x + 1.0F; }, [&] { return x * 3.0F; }); });
  auto loop = function([](Tensor x) { return while_loop([](Tensor v) { return sum(v) < 100.0F; }, [](Tensor v) { return v * 2.0F; }, x); });
  auto steps = function([](Tensor x) {
    return scan([](Tensor carry, Tensor step) { return std::pair(tanh(carry + step), carry * step); }, zeros({7}), x).second;
  });
  auto found = function([](Tensor x) { return cumsum(gather_nd(x, nonzero(x > 0.5F))); });
  auto unequal = function([](Tensor x) { return softmax(x, {.axis = 1}) + exp(sum(x * x, {.axis = 1, .keep_dims = true})); });
  const random::SeedScope seeds(4);
  const Tensor x = random::normal({19, 7}), lengths = tensor({3, 0, 9, 1, 6});
  expect_same_on_both([&] {
    return std::vector{branch(x), branch(-x), loop(abs(x)), steps(x), found(x), to_padded(unequal(ragged_from_lengths(x, lengths)))};
  });
}

std::vector<Tensor> trained(Sequential model, const Data& x, const Tensor& y) {
  const random::SeedScope seeds(11);
  model.compile({.optimizer = adam(), .loss = "mse", .metrics = {"mae"}});
  model.fit(x, y, {.batch_size = 5, .epochs = 2, .verbose = Verbose::Silent});
  std::vector<Tensor> weights = model.weights();
  weights.push_back(model.predict(x));
  return weights;
}

TEST(GridPrograms, training_of_a_network_with_normalisation_and_dropout) {
  const random::SeedScope seeds(5);
  const Tensor x = random::normal({13, 6}), y = random::normal({13, 1});
  expect_same_on_both([&] {
    const random::SeedScope same(6);
    return trained(Sequential(Dense(9, {.activation = "tanh"}), BatchNormalization(), Dropout(0.3), LayerNormalization(), Dense(1)), x, y);
  });
}

TEST(GridPrograms, training_on_rows_of_unequal_length) {
  const random::SeedScope seeds(7);
  const Tensor ids = random::integers({23}, {.low = 1, .high = 30}), lengths = tensor({4, 1, 7, 0, 3, 8}), y = random::normal({6, 1});
  expect_same_on_both([&] {
    const random::SeedScope same(8);
    return trained(Sequential(Embedding(30, 4), LSTM(5), Dense(1)), ragged_from_lengths(ids, lengths), y);
  });
}

TEST(GridPrograms, attention_with_its_gradient) {
  const random::SeedScope seeds(9);
  const Tensor x = random::normal({3, 6, 8});
  expect_same_on_both([&] {
    const random::SeedScope same(10);
    const MultiHeadAttention attention(2, 4);
    auto f = function([&](Tensor in) {
      GradientTape tape;
      tape.watch(in);
      return tape.gradient(sum(square(attention(in, in))), in);
    });
    return std::vector<Tensor>{f(x)};
  });
}

TEST(GridPrograms, a_wrong_mapping_is_an_error_of_the_call) {
  const ScopedBackend on_grid(grid());
  const Tensor x = ones({40});
  auto f = function([](Tensor x) { return exp(x) * 2.0F; });
  grid().mistake = GridMistake::EveryBlockDoesAll;  // of this function alone: kernels of eager ops are kept for the tests behind
  const std::string text = text_of<GridFault>([&] { f(x).to_vector<float>(); });
  grid().mistake = GridMistake::None;
  EXPECT_NE(text.find("of the grid both write"), std::string::npos) << text;
}

}  // namespace
}  // namespace anyshape::test
