// Dropout with a seed of its own: what it draws depends on the seed and the number of calls, and on nothing else.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

constexpr LayerCallOptions training{.training = true};

TEST(Dropout, with_a_seed_draws_the_same_in_every_layer_of_that_seed) {
  const Tensor x = ones({40, 25});
  random::set_seed(1);
  const Dropout first(0.5, {.seed = 3}), other(0.5, {.seed = 4});
  const Tensor one = first(x, training), two = first(x, training);
  EXPECT_FALSE(all_equal(one, two)) << "each call draws anew";
  EXPECT_FALSE(all_equal(one, other(x, training)));
  random::set_seed(99);
  random::normal({3});
  const Dropout again(0.5, {.seed = 3});
  EXPECT_TRUE(all_equal(again(x, training), one));
  EXPECT_TRUE(all_equal(again(x), x)) << "nothing is drawn outside training";
  EXPECT_TRUE(all_equal(again(x, training), two));
  const double kept = static_cast<double>(sum(cast(one > 0, Dtype::f32)).item<float>());
  EXPECT_NEAR(kept, 500, 60);
  EXPECT_TRUE(all_equal(one, where(one > 0, 2, zeros({40, 25}))));
}

TEST(Dropout, with_a_seed_draws_the_same_eagerly_and_compiled) {
  const Tensor x = ones({8, 5});
  const Dropout eager(0.3, {.seed = 11}), compiled(0.3, {.seed = 11});
  auto call = function([&](Tensor in) { return compiled(in, training); }, {.name = "call"});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(all_equal(call(x), eager(x, training))) << i;
  EXPECT_TRUE(all_equal(call(ones({3, 5})), eager(ones({3, 5}), training)));
  EXPECT_EQ(call.stats().traces, 1);
}

TEST(Dropout, with_a_seed_makes_training_the_same_whatever_was_drawn_before) {
  const Tensor x = random::normal({16, 3}), y = random::normal({16, 1});
  std::vector<Tensor> kernels;
  for (const int64_t drawn : {1, 5}) {
    for (int64_t i = 0; i < drawn; ++i) random::normal({1});
    Model model = Sequential(Dense(8, {.kernel_initializer = "ones"}), Dropout(0.5, {.seed = 1}), Dense(1, {.kernel_initializer = "ones"}));
    model.compile({.optimizer = "sgd", .loss = "mse"});
    model.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = Verbose::Silent, .shuffle = false});
    EXPECT_EQ(model.weights().size(), 4U) << "the number of draws is no weight";
    kernels.push_back(model.weights()[0]);
  }
  EXPECT_TRUE(all_equal(kernels[0], kernels[1]));
}

TEST(Dropout, with_a_seed_is_cloned_with_what_it_has_drawn) {
  const Tensor x = ones({8, 5});
  const Dropout layer(0.5, {.seed = 2});
  layer(x, training);
  const AnyLayer copy = layer.clone();
  EXPECT_TRUE(all_equal(copy(x, training), layer(x, training)));
  EXPECT_TRUE(all_equal(copy(x, training), layer(x, training)));
}

TEST(Dropout, with_a_seed_takes_ragged_rows) {
  const Tensor rows = ragged_from_rows({ones({3, 2}), ones({1, 2})});
  const Dropout first(0.5, {.seed = 5}), again(0.5, {.seed = 5});
  EXPECT_TRUE(all_equal(first(rows, training).values(), again(rows, training).values()));
}

}  // namespace
}  // namespace anyshape
