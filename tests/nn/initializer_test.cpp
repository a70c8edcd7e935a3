// Initializers: the golden distributions, seeds, callables, and what is refused. Regularizers.
#include "support/golden_values.h"
#include "support/text_of.h"
#include "train/golden_names.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::Json;

Initializer initializer_of(const GoldenCase& golden) {
  if (golden.op == "VarianceScaling") {
    const std::map<std::string, Fan> modes = {{"fan_in", Fan::In}, {"fan_out", Fan::Out}, {"fan_avg", Fan::Average}};
    const std::map<std::string, Distribution> distributions = {{"truncated_normal", Distribution::TruncatedNormal},
                                                               {"untruncated_normal", Distribution::Normal},
                                                               {"uniform", Distribution::Uniform}};
    return variance_scaling({.scale = golden.config["scale"].number(),
                             .mode = modes.at(golden.config["mode"].string()),
                             .distribution = distributions.at(golden.config["distribution"].string())});
  }
  const std::map<std::string, const char*> names = {
      {"GlorotUniform", "glorot_uniform"}, {"GlorotNormal", "glorot_normal"}, {"HeNormal", "he_normal"},
      {"HeUniform", "he_uniform"},         {"LecunNormal", "lecun_normal"},   {"Orthogonal", "orthogonal"},
      {"RandomUniform", "random_uniform"}, {"RandomNormal", "random_normal"}, {"TruncatedNormal", "truncated_normal"}};
  return names.at(golden.op);
}

class GoldenInitializer : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenInitializer, draws_from_its_distribution) {
  const GoldenCase& golden = *GetParam();
  const random::SeedScope seed(17);
  const std::vector<int64_t> sizes = golden.record["shape"].integers();
  const Tensor sample = initializer_of(golden)(Shape{std::span<const int64_t>(sizes)});
  const auto count = static_cast<double>(sample.shape().count().value());
  if (golden.attrs.find("orthogonal") != nullptr) {
    const bool is_wide = sizes[0] < sizes[1];
    const Tensor product = matmul(sample, sample, {.transpose_a = !is_wide, .transpose_b = is_wide});
    EXPECT_TRUE(all_close(product, eye(std::min(sizes[0], sizes[1])), {.absolute = 1e-5}));
    return;
  }
  const double variance = golden.attrs["variance"].number(), deviation = std::sqrt(variance);
  EXPECT_NEAR(mean(sample).item<double>(), golden.attrs["mean"].number(), 5 * deviation / std::sqrt(count));
  EXPECT_NEAR(var(sample).item<double>(), variance, variance * 8 / std::sqrt(count));  // the spread of a variance is below sqrt(2 / n)
  if (const Json* limit = golden.attrs.find("limit")) {
    const double greatest = max(abs(sample)).item<double>();
    EXPECT_LE(greatest, limit->number() * (1 + 1e-6));
    EXPECT_GE(greatest, limit->number() * 0.999) << "the limit is reached";
  }
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenInitializer, testing::ValuesIn(cases_of_kind("initializer")), name_of_case);

TEST(Initializers, repeat_their_numbers_with_a_seed) {
  for (const Initializer& initializer : {glorot_uniform({.seed = 3}), glorot_normal({.seed = 3}), he_uniform({.seed = 3}),
                                         lecun_uniform({.seed = 3}), orthogonal({.seed = 3}), random_uniform({.seed = 3}),
                                         random_normal({.seed = 3}), truncated_normal({.seed = 3}), variance_scaling({.seed = 3})}) {
    const Tensor first = initializer({6, 4});
    EXPECT_TRUE(all_equal(first, initializer({6, 4}))) << initializer.name();
    EXPECT_EQ(initializer({6, 4}, Dtype::f64).dtype(), Dtype::f64) << initializer.name();
    EXPECT_GT(max(abs(first)).item<float>(), 0) << initializer.name();
  }
  const Initializer free_running = glorot_uniform();
  EXPECT_FALSE(all_equal(free_running({6, 4}), free_running({6, 4})));
  EXPECT_FALSE(all_equal(glorot_uniform({.seed = 3})({6, 4}), glorot_uniform({.seed = 4})({6, 4})));
}

TEST(Initializers, of_the_whole_program_repeat_with_its_seed) {
  random::set_seed(5);
  const Tensor first = he_normal()({3, 3});
  random::set_seed(5);
  EXPECT_TRUE(all_equal(first, he_normal()({3, 3})));
}

TEST(Initializers, take_any_shape) {
  for (const char* name : {"glorot_uniform", "he_normal", "random_normal", "zeros", "ones"}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{7}, Shape{0, 3}, Shape{2, 2, 3}}) {
      EXPECT_EQ(to_string(Initializer(name)(shape).shape()), to_string(shape)) << name;
    }
  }
  EXPECT_EQ(to_string(orthogonal()({0, 3}).shape()), "[0, 3]");
  EXPECT_NEAR(std::abs(orthogonal({.gain = 2})({1, 1}).item<double>()), 2, 1e-6);
  const Tensor kernel = reshape(orthogonal()({3, 2, 4}), {6, 4});  // a kernel is the matrix of all but its last axis
  EXPECT_TRUE(all_close(matmul(kernel, kernel, {.transpose_a = true}), eye(4), {.absolute = 1e-5}));
}

TEST(Initializers, are_constants_identities_and_callables) {
  EXPECT_TRUE(all_equal(constant(2.5)({2}), tensor({2.5F, 2.5F})));
  EXPECT_TRUE(all_equal(Initializer("ones")({2}), ones({2})));
  EXPECT_TRUE(all_equal(identity_matrix(3)({2, 3}), tensor({{3.0F, 0.0F, 0.0F}, {0.0F, 3.0F, 0.0F}})));
  const Initializer counting = [](const Shape& shape, Dtype dtype) { return reshape(arange(shape.count(), {.dtype = dtype}), shape); };
  EXPECT_TRUE(all_equal(counting({2, 2}), tensor({{0.0F, 1.0F}, {2.0F, 3.0F}})));
  const Initializer wrong = [](const Shape&, Dtype) { return zeros({3}); };
  EXPECT_EQ(text_of<ArgumentError>([&] { wrong({2}); }), "initializer \"custom\": the result is f32[3]; expected f32[2].");
}

TEST(Initializers, refuse_what_is_none) {
  EXPECT_EQ(text_of<ArgumentError>([] { Initializer("glorot"); }).find("initializer: \"glorot\" is no initializer; expected"), 0U);
  EXPECT_EQ(text_of<ShapeError>([] { identity_matrix()({3}); }), "identity_matrix: the weight is [3]; expected a matrix.");
  EXPECT_EQ(text_of<ShapeError>([] { orthogonal()({3}); }), "orthogonal: the weight is [3]; expected at least two axes.");
  EXPECT_EQ(text_of<ArgumentError>([] { variance_scaling({.scale = 0}); }), "variance_scaling: scale is 0; expected a positive number.");
}

TEST(Regularizers, are_sums_of_sizes_and_squares) {
  const Tensor weight = tensor({{1.0F, -2.0F}, {0.0F, 3.0F}});
  EXPECT_FLOAT_EQ(l1(0.1)(weight).item<float>(), 0.6F);
  EXPECT_FLOAT_EQ(l2(0.1)(weight).item<float>(), 1.4F);
  EXPECT_FLOAT_EQ(l1_l2(0.1, 0.2)(weight).item<float>(), 3.4F);
  EXPECT_FLOAT_EQ(Regularizer("l1")(weight).item<float>(), 0.06F);
  EXPECT_FLOAT_EQ(Regularizer("l2")(weight).item<float>(), 0.14F);
  EXPECT_FLOAT_EQ(Regularizer("l1_l2")(weight).item<float>(), 0.2F);
  EXPECT_FLOAT_EQ(l2()(zeros({0, 2})).item<float>(), 0);
  const Regularizer custom = [](const Tensor& w) { return max(w); };
  EXPECT_TRUE(custom);
  EXPECT_FALSE(Regularizer());
  EXPECT_FLOAT_EQ(custom(weight).item<float>(), 3);
  EXPECT_EQ(text_of<ArgumentError>([] { Regularizer("l3"); }).find("regularizer: \"l3\" is no regularizer; expected one of \"l1\", \"l2\""),
            0U);
  auto traced = function([](Tensor w) { return l1_l2(0.1, 0.2)(w); }, {.name = "penalty"});
  EXPECT_FLOAT_EQ(traced(weight).item<float>(), 3.4F);
}

}  // namespace
}  // namespace anyshape::test
