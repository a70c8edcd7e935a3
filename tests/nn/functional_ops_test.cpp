// Plain ops on what as::input() gives: they are noted, and run on the sizes of each call.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using Body = std::function<Tensor(const Tensor&)>;

const std::vector<std::pair<std::string, Body>>& bodies() {
  static const std::vector<std::pair<std::string, Body>> all = {
      {"slice", [](const Tensor& x) { return slice(x, {{}, {.begin = 0, .end = 2}}); }},
      {"flip", [](const Tensor& x) { return flip(x, {1}); }},
      {"reshape", [](const Tensor& x) { return reshape(x, {x.shape()[0], x.shape()[1] * 3}); }},
      {"expand_dims", [](const Tensor& x) { return squeeze(expand_dims(x, 1), {1}); }},
      {"split", [](const Tensor& x) { return split(x, 3, {.axis = -1})[1]; }},
      {"pad", [](const Tensor& x) { return pad(x, {{0, 0}, {1, 2}, {0, 0}}); }},
      {"roll", [](const Tensor& x) { return roll(x, 1, {.axis = 1}); }},
      {"broadcast_to", [](const Tensor& x) { return broadcast_to(sum(x, {.axes = {1}, .keep_dims = true}), x.shape()); }},
      {"ones_like", [](const Tensor& x) { return x + ones_like(x); }},
      {"arange", [](const Tensor& x) { return x * reshape(arange(x.shape()[1], {.dtype = Dtype::f32}), {x.shape()[1], 1}); }},
      {"mean over time", [](const Tensor& x) { return mean(x, {.axes = {1}}); }},
      {"mean over the batch", [](const Tensor& x) { return x - mean(x, {.axes = {0}, .keep_dims = true}); }},
      {"max over time", [](const Tensor& x) { return max(x, {.axes = {1}}); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x, {.axes = {-1}}); }},
  };
  return all;
}

TEST(FunctionalOps, run_on_the_sizes_of_each_call) {
  for (const auto& [name, body] : bodies()) {
    const Tensor in = input({dynamic, 3});
    const Model model({.inputs = {in}, .outputs = {body(in)}});
    for (const Shape& shape : {Shape{4, 5, 3}, Shape{2, 7, 3}}) {
      const Tensor x = random::normal(shape);
      EXPECT_TRUE(all_close(model(x), body(x))) << name << " on " << to_string(shape);
      EXPECT_TRUE(all_close(model.predict(x), body(x))) << name << " compiled";
    }
  }
}

TEST(FunctionalOps, inputs_of_another_rank_are_refused) {
  const Tensor in = input({dynamic, 3});
  const Model model({.inputs = {in}, .outputs = {in * 2}});
  EXPECT_THROW(model(ones({4, 3})), ShapeError);
}

TEST(Halves, layers_draw_their_weights) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16}) {
    EXPECT_EQ(Dense(3, {.dtype = dtype})(ones({2, 4})).dtype(), dtype);
    EXPECT_EQ(Embedding(300, 4, {.dtype = dtype})(tensor({299.0F})).shape(), (Shape{1, 4}));  // an id that bf16 cannot say
  }
}

TEST(Sequential, an_empty_handle_is_refused) { EXPECT_THROW(Sequential(AnyLayer(), Dense(1)), ArgumentError); }

}  // namespace
}  // namespace anyshape::test
