// Functions that were saved and loaded: the same bits, one trace and one compile for all sizes, with everything that a trace can hold.
#include "function/on_threads.h"
#include "function/same_bits.h"
#include "function/small_network.h"
#include "saved/saved.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

constexpr std::array<int64_t, 6> batches = {3, 1, 17, 0, 64, 5};

void expect_one_trace(const LoadedFunction& loaded) {
  EXPECT_EQ(loaded.stats().traces, 1) << loaded.report();
  EXPECT_EQ(loaded.stats().compiles, 1) << loaded.report();
}

TEST(SavedFunction, gives_the_same_bits_at_every_size_by_one_trace_and_one_compile) {
  const Tensor kernel = random::normal({6, 4});
  auto classify = function([&](Tensor x) { return softmax(matmul(tanh(x), kernel) * 0.3f); },
                           {.name = "classify", .signature = {spec(f32, {dim("batch"), 6}, "x")}});
  classify(ones({2, 6}));
  const LoadedFunction loaded = saved_and_loaded(classify);
  for (const int64_t batch : batches) {
    const Tensor x = random::normal({batch, 6});
    expect_same_bits(loaded({x}).at(0), classify(x));
    expect_same_bits(loaded.call({{"x", x}}).at(0), classify(x));
  }
  expect_one_trace(loaded);
  EXPECT_EQ(loaded.name(), "classify");
  EXPECT_EQ(to_string(loaded.inputs().at(0)), "f32[batch, 6]");
  EXPECT_EQ(loaded.inputs()[0].name, "x");
  EXPECT_EQ(to_string(loaded.outputs().at(0)), "f32[batch, 4]");
  EXPECT_EQ(loaded.traces(), std::vector<std::string>{"(x: f32[batch, 6])"});
  EXPECT_NE(loaded.explain().find("classify"), std::string::npos);
}

TEST(SavedFunction, that_was_never_called_is_traced_by_its_signature) {
  auto center = function([](Tensor x) { return x - mean(x); }, {.signature = {spec(f32, {dim("rows"), 3}, "x")}});
  const LoadedFunction loaded = saved_and_loaded(center);
  const Tensor x = random::normal({7, 3});
  expect_same_bits(loaded({x}).at(0), center(x));
  EXPECT_EQ(center.stats().traces, 1);
  auto open = function([](Tensor x) { return x; }, {.name = "open"});
  const SavedFile file;
  EXPECT_NE(message_of([&] { save(open, file.path()); }).find("function \"open\" has no trace"), std::string::npos);
}

TEST(SavedFunction, of_a_training_step_updates_its_own_variables) {
  const SmallNetwork network;
  auto step = network.compiled_step();
  std::mt19937 host(3);
  step(random_tensor(host, {4, 12}, f32), random_labels(host, 4, 5));
  const LoadedFunction loaded = saved_and_loaded(step);
  for (const int64_t batch : {5, 1, 33, 8}) {
    const Tensor x = random_tensor(host, {batch, 12}, f32), label = random_labels(host, batch, 5);
    expect_same_bits(loaded({x, label}).at(0), step(x, label));
  }
  ASSERT_EQ(loaded.variables().size(), 4U);
  for (const Variable& variable : network.variables()) expect_same_bits(loaded.variable(variable.name()).read(), variable.read());
  expect_one_trace(loaded);
  loaded.variable("bias2").assign(zeros({5}));
  const LoadedFunction again = saved_and_loaded(loaded);  // with the values of now
  expect_same_bits(again.variable("bias2").read(), zeros({5}));
  expect_same_bits(again.variable("kernel1").read(), network.kernel1.read());
  EXPECT_NE(message_of([&] { loaded.variable("bias"); }).find("\"bias1\""), std::string::npos);
}

TEST(SavedFunction, keeps_dropout_control_flow_and_sizes_that_depend_on_data) {
  const Variable scale(ones({3}), {.name = "scale"});
  auto mixed = function(
      [&](Tensor x, Tensor flag) {
        const Tensor noisy = where(random::uniform(x.shape()) < 0.5f, 0.0f, x);
        const Tensor chosen = cond(flag, [&] { return noisy * 2.0f; }, [&] { return noisy - Tensor(scale); });
        const auto summed = scan([](Tensor total, Tensor row) { return std::pair(total + row, total * row); }, zeros({3}), chosen);
        const Tensor positive = boolean_mask(chosen, chosen > 0.0f);
        scale.assign_add(sum(chosen, {.axes = {0}}) * 0.01f);
        return std::tuple(summed.first, summed.second, positive, sort(positive));
      },
      {.name = "mixed"});
  mixed(ones({2, 3}), Tensor(true));
  const LoadedFunction loaded = saved_and_loaded(mixed);
  for (const int64_t batch : batches) {
    const Tensor x = random::normal({batch, 3});
    for (const bool flag : {true, false}) {
      random::set_seed(batch + 1);
      const auto [total, rows, positive, sorted] = mixed(x, Tensor(flag));
      random::set_seed(batch + 1);
      const std::vector<Tensor> got = loaded({x, Tensor(flag)});
      ASSERT_EQ(got.size(), 4U);
      expect_same_bits(got[0], total);
      expect_same_bits(got[1], rows);
      expect_same_bits(got[2], positive);
      expect_same_bits(got[3], sorted);
    }
  }
  expect_same_bits(loaded.variable("scale").read(), scale.read());
  expect_one_trace(loaded);
}

TEST(SavedFunction, takes_and_gives_ragged_tensors) {
  auto pooled = function([](Tensor rows, Tensor weight) { return std::pair(rows * weight, sum(rows, {.axes = {1}})); },
                         {.signature = {spec(f32, {dim("batch"), ragged_dim("time"), 2}, "rows"), spec(f32, {2}, "weight")}});
  const auto make = [](std::vector<int64_t> splits) { return ragged_from_splits(random::normal({splits.back(), 2}), tensor(splits)); };
  const Tensor weight = tensor({0.5f, 2.0f});
  pooled(make({0, 2, 5}), weight);
  const LoadedFunction loaded = saved_and_loaded(pooled);
  for (const std::vector<int64_t>& splits : {std::vector<int64_t>{0, 1}, {0, 3, 3, 9}, {0}, {0, 0, 0}, {0, 40, 41}}) {
    const Tensor rows = make(splits);
    const auto [scaled, sums] = pooled(rows, weight);
    const std::vector<Tensor> got = loaded({rows, weight});
    ASSERT_TRUE(got.at(0).is_ragged());
    expect_same_bits(got[0].values(), scaled.values());
    expect_same_bits(got[0].row_splits(), scaled.row_splits());
    expect_same_bits(got.at(1), sums);
  }
  expect_one_trace(loaded);
  EXPECT_NE(message_of([&] { loaded({ones({2, 3, 2}), weight}); }).find("rows"), std::string::npos);
}

// Both directions of time, steps by packed rows, their gradients: every scan has sizes of its own.
TEST(SavedFunction, trains_recurrent_layers_on_ragged_rows) {
  Sequential model(Embedding(11, 4), Bidirectional(LSTM(3, {.return_sequences = true})), GRU(3), Dense(1));
  Optimizer optimizer = adam({.learning_rate = 0.02});
  auto step = function(
      [&](Tensor ids, Tensor y) {
        GradientTape tape;
        const Tensor loss = mean(square(model(ids, {.training = true}) - y));
        optimizer.apply(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
        return loss;
      },
      {.name = "step"});
  const auto ids = [](const std::vector<int64_t>& splits) {
    return ragged_from_splits(arange(splits.back(), {.dtype = i32}) % 11, tensor(splits));
  };
  step(ids({0, 2, 5}), ones({2, 1}));
  const LoadedFunction loaded = saved_and_loaded(step);
  for (const std::vector<int64_t>& splits : {std::vector<int64_t>{0, 1}, {0, 3, 3, 9}, {0, 0, 0}, {0, 12, 13, 20, 31}}) {
    const Tensor rows = ids(splits), y = random::normal({static_cast<int64_t>(splits.size()) - 1, 1});
    expect_same_bits(loaded({rows, y}).at(0), step(rows, y));
  }
  expect_one_trace(loaded);
  size_t compared = 0;
  for (const Variable& variable : model.trainable_variables()) {
    for (const Variable& own : loaded.variables()) compared += same_bits(own.read(), variable.read()) ? 1 : 0;
  }
  EXPECT_GE(compared, model.trainable_variables().size());
  GradientTape tape({.persistent = true});
  const Tensor around = loaded({ids({0, 4, 6}), ones({2, 1})}).at(0);  // a step under another tape
  EXPECT_TRUE(all_close(around, step(ids({0, 4, 6}), ones({2, 1}))));
}

struct Options {
  float rate = 0.5f;
  bool doubles = false;
};
struct Pair {
  Tensor low, high;
};

TEST(SavedFunction, knows_host_values_structs_and_their_names) {
  auto scaled = function(
      [](Pair x, Options options) {
        const Tensor low = x.low * options.rate, high = options.doubles ? x.high * 2.0f : x.high;
        return Pair{low + high, high};
      },
      {.name = "scaled"});
  const Pair x{random::normal({4}), random::normal({4})};
  scaled(x, {});
  scaled(x, {.rate = 2, .doubles = true});
  const LoadedFunction loaded = saved_and_loaded(scaled);
  EXPECT_EQ(loaded.inputs().at(1).name, "high");
  EXPECT_EQ(loaded.outputs().at(0).name, "low");
  EXPECT_EQ(loaded.traces().size(), 2U);
  expect_same_bits(loaded({x.low, x.high}).at(0), scaled(x, {}).low);
  const LoadedFunction doubling = loaded.with({{"doubles", "true"}});
  expect_same_bits(doubling.call({{"low", x.low}, {"high", x.high}}).at(1), scaled(x, {.rate = 2, .doubles = true}).high);
  const auto typed = loaded.as<Pair(Pair, Options)>();
  expect_same_bits(typed(x, {.rate = 2, .doubles = true}).low, scaled(x, {.rate = 2, .doubles = true}).low);
  const std::string refused = message_of([&] { typed(x, {.rate = 3}); });
  EXPECT_NE(refused.find("no trace of its file fits"), std::string::npos) << refused;
  EXPECT_NE(refused.find("trace 1: "), std::string::npos) << refused;
  EXPECT_NE(message_of([&] { loaded.with({{"rate", "7"}}); }).find("rate = 7"), std::string::npos);
  EXPECT_NE(message_of([&] { loaded.call({{"low", x.low}, {"hihg", x.high}}); }).find("\"high\" is missing"), std::string::npos);
  EXPECT_NE(message_of([&] { loaded.as<Tensor(Pair, Options)>()(x, {}); }).find("expected equal numbers"), std::string::npos);
}

TEST(SavedFunction, refuses_what_its_signature_and_checks_refuse) {
  auto joined = function([](Tensor a, Tensor b) { return a + b; }, {.name = "joined"});
  joined(ones({3}), ones({3}));
  const LoadedFunction loaded = saved_and_loaded(joined);
  expect_same_bits(loaded({ones({4}), ones({4})}).at(0), ones({4}) * 2.0f);
  EXPECT_EQ(message_of([&] { loaded({ones({4}), ones({5})}); }), message_of([&] { joined(ones({4}), ones({5})); }));
  EXPECT_THROW(loaded({ones({2, 2}), ones({2, 2})}), SignatureError);
  EXPECT_THROW(loaded({ones({2})}), SignatureError);
  EXPECT_EQ(loaded.stats().failed_checks, 1);
  auto branched = function([](Tensor x) { return x.shape()[0] == 2 ? x * 2.0f : x; }, {.name = "branched"});
  branched(ones({2}));
  const LoadedFunction for_two = saved_and_loaded(branched);
  expect_same_bits(for_two({ones({2})}).at(0), ones({2}) * 2.0f);
  const std::string refused = message_of([&] { for_two({ones({3})}); });
  EXPECT_NE(refused.find("for a0 == 2"), std::string::npos) << refused;
}

TEST(SavedFunction, keeps_fixed_and_relaxed_sizes) {
  for (const Shapes shapes : {Shapes::Exact, Shapes::Relax}) {
    auto product = function([](Tensor a, Tensor b) { return matmul(a, b); }, {.shapes = shapes, .retrace = Retrace::Allow});
    const Tensor b = random::normal({4, 2});
    product(ones({3, 4}), b);
    product(ones({5, 4}), b);
    const LoadedFunction loaded = saved_and_loaded(product);
    for (const int64_t rows : {3, 5}) {
      const Tensor a = random::normal({rows, 4});
      expect_same_bits(loaded({a, b}).at(0), product(a, b));
    }
    EXPECT_THROW(loaded({ones({5, 6}), ones({6, 2})}), SignatureError);
  }
}

TEST(SavedFunction, is_followed_by_tapes_and_inlined_by_traces) {
  const Variable weight(random::normal({3, 2}), {.name = "weight"});
  auto layer = function([&](Tensor x) { return tanh(matmul(x, weight)); }, {.name = "layer"});
  layer(ones({2, 3}));
  const LoadedFunction loaded = saved_and_loaded(layer);
  for (const int64_t batch : {4, 9}) {
    const Tensor x = random::normal({batch, 3});
    GradientTape tape({.persistent = true});
    const Tensor wanted = sum(square(layer(x))), got = sum(square(loaded({x}).at(0)));
    expect_same_bits(got, wanted);
    expect_same_bits(tape.gradient(got, {loaded.variable("weight")})[0], tape.gradient(wanted, {weight})[0]);
  }
  auto around = function([&](Tensor x) { return loaded({x * 2.0f}).at(0) + 1.0f; });
  for (const int64_t batch : {2, 6}) {
    const Tensor x = random::normal({batch, 3});
    expect_same_bits(around(x), layer(x * 2.0f) + 1.0f);
  }
  EXPECT_EQ(around.stats().traces, 1);
}

TEST(SavedFunction, is_called_from_many_threads) {
  const SmallNetwork network;
  auto scores = function([&](Tensor x) { return network.loss(x, zeros({x.shape()[0]}, {.dtype = i32})); }, {.name = "scores"});
  scores(ones({1, 12}));
  const LoadedFunction loaded = saved_and_loaded(scores);
  on_threads([&](int thread) {
    for (int64_t batch = 1; batch < 20; ++batch) {
      const Tensor x = full({batch, 12}, 0.1f * static_cast<float>(thread + 1));
      expect_same_bits(loaded({x}).at(0), scores(x));
    }
  });
  expect_one_trace(loaded);
}

}  // namespace
}  // namespace anyshape::test
