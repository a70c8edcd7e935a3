// Files of functions with everything that a file can hold, changed.
#include "function/compile.h"
#include "saved/mutated_files.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

SavedSeeds seeds() {
  SavedSeeds seeds;
  const auto add = [&](const auto& function) { seeds.add(function); };
  const function_detail::ScopedInterpretation interpretation;
  const Variable weight(random::normal({3, 2}), {.name = "weight"}), bias(zeros({2}), {.name = "bias"});
  auto step = function(
      [=](Tensor x, Tensor y) {
        GradientTape tape;
        const Tensor loss = mean(square(tanh(matmul(x, weight) + bias) - y));
        const auto gradients = tape.gradient(loss, {weight, bias});
        weight.assign_sub(gradients[0] * 0.1f);
        bias.assign_sub(gradients[1] * 0.1f);
        return loss;
      },
      {.name = "step", .signature = {spec(f32, {dim("batch"), 3}, "x"), spec(f32, {dim("batch"), 2}, "y")}});
  add(step);
  const Tensor table = random::normal({5, 3});
  auto moved = function([=](Tensor x, Tensor i) {
    const Tensor rows = concat({take(table, i), pad(slice(x, {{.begin = 1}}), {{1, 0}, {0, 0}})}, {.axis = 0});
    return std::tuple(transpose(reshape(rows, {3, -1})), cumsum(rows), top_k(rows, 2).values, one_hot(i, 5));
  });
  moved(ones({3, 3}), tensor({1, 4}));
  add(moved);
  auto images = function([](Tensor x, Tensor kernel) {
    return std::pair(max_pool(conv(x, kernel, {.strides = {2, 1}, .padding = "same"}), 2), mean(x, {.axes = {1, 2}}));
  });
  images(ones({1, 4, 5, 2}), ones({3, 3, 2, 2}));
  add(images);
  auto loops = function([](Tensor x, Tensor flag) {
    const Tensor chosen = cond(flag, [&] { return x * 2.0f; }, [&] { return sin(x); });
    return scan([](Tensor h, Tensor row) { return std::pair(tanh(h + row), h * row); }, zeros({3}), chosen);
  });
  loops(ones({2, 3}), Tensor(true));
  add(loops);
  auto found = function([](Tensor x) {
    const Tensor kept = boolean_mask(x, x > 0.0f);
    return std::tuple(sort(kept), sum(kept), nonzero(x), where(random::uniform(kept.shape()) < 0.5f, kept, 0.0f));
  });
  found(tensor({1.0f, -1.0f, 2.0f}));
  add(found);
  auto rows = function([](Tensor x, Tensor w) { return std::tuple(x * w, sum(x, {.axes = {1}}), softmax(x, {.axis = 1})); },
                       {.signature = {spec(f32, {dim("batch"), ragged_dim("time"), 2}, "rows"), spec(f32, {2}, "w")}});
  rows(ragged_from_splits(ones({3, 2}), tensor(std::vector<int64_t>{0, 1, 3})), ones({2}));
  add(rows);
  auto attend = function([](Tensor q, Tensor k) { return einsum("bqd,bkd->bqk", {q, k}) / 2.0f; });
  attend(ones({2, 3, 4}), ones({2, 5, 4}));
  add(attend);
  auto by_value = function([](Tensor x, float rate, bool doubles) { return doubles ? x * rate * 2.0f : x + rate; });
  by_value(ones({2}), 0.5f, true);
  by_value(ones({2}), 0.5f, false);
  add(by_value);
  Sequential model(LSTM(3), Dense(1));
  auto recurrent = function([&](Tensor x) {
    GradientTape tape;
    const Tensor loss = mean(square(model(x)));
    return std::pair(loss, tape.gradient(loss, model.trainable_variables()));
  });
  recurrent(ragged_from_splits(ones({5, 2}), tensor(std::vector<int64_t>{0, 2, 5})));
  add(recurrent);
  return seeds;
}

TEST(FuzzFiles, load_and_run_or_are_refused_1_of_4) { fuzz_files(seeds(), 0); }
TEST(FuzzFiles, load_and_run_or_are_refused_2_of_4) { fuzz_files(seeds(), 1); }
TEST(FuzzFiles, load_and_run_or_are_refused_3_of_4) { fuzz_files(seeds(), 2); }
TEST(FuzzFiles, load_and_run_or_are_refused_4_of_4) { fuzz_files(seeds(), 3); }

}  // namespace
}  // namespace anyshape::test
