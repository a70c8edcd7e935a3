// Host numbers keep their 64 bits until they meet a dtype: eagerly, in traces and as arguments of functions.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

Tensor f64_ones(int64_t count) { return ones({count}, {.dtype = f64}); }

TEST(HostNumbers, a_filled_tensor_keeps_the_digits_of_its_number) {
  EXPECT_EQ(full({2}, 0.1).dtype(), f32);
  EXPECT_EQ((f64_ones(2) * full({2}, 0.1)).to_vector<double>(), (std::vector<double>{0.1, 0.1}));
  EXPECT_EQ(cast(full({2}, 0.1), f64).to_vector<double>(), (std::vector<double>{0.1, 0.1}));
  EXPECT_EQ((ones({2}) * full({2}, 0.1)).to_vector<float>(), (std::vector<float>{0.1f, 0.1f}));
  EXPECT_EQ(full({2}, 0.1, {.dtype = f64}).to_vector<double>(), (std::vector<double>{0.1, 0.1}));
  EXPECT_EQ(full({1}, 7, {.dtype = f64}).to_vector<double>(), (std::vector<double>{7}));
  EXPECT_EQ(cast(full({1}, 0.1f), f64).to_vector<double>(), (std::vector<double>{static_cast<double>(0.1f)}));
}

TEST(HostNumbers, a_number_in_a_tensor_keeps_its_digits) {
  const Tensor k = 0.1;
  EXPECT_EQ(k.dtype(), f32);
  EXPECT_EQ(k.item<double>(), 0.1);
  EXPECT_EQ((f64_ones(1) * k).item<double>(), 0.1);
  EXPECT_EQ((ones({1}) * k).item<float>(), 0.1f);
}

TEST(HostNumbers, an_argument_that_meets_f64_keeps_its_digits_in_one_trace) {
  auto scale = function([](Tensor x, Tensor by) { return x * by; }, {.name = "scale", .retrace = Retrace::Forbid});
  EXPECT_EQ(scale(f64_ones(1), 0.1).item<double>(), 0.1);
  EXPECT_EQ(scale(f64_ones(3), 0.7).to_vector<double>(), (std::vector<double>{0.7, 0.7, 0.7}));
  EXPECT_EQ(scale(f64_ones(1), full({}, 0.25f)).item<double>(), 0.25);  // a tensor, no host number
  EXPECT_EQ(scale(f64_ones(1), -Tensor(0.1) * 3.0).item<double>(), -0.1 * 3.0);
  EXPECT_EQ(scale.stats().traces, 1);
  auto single = function([](Tensor x, Tensor by) { return x * by; }, {.name = "single"});
  EXPECT_EQ(single(ones({1}), 0.1).dtype(), f32);
  EXPECT_EQ(single(ones({1}), 0.1).item<float>(), 0.1f);
}

TEST(HostNumbers, arithmetic_of_numbers_alone_keeps_their_digits) {
  const Tensor k = 0.1, d = f64_ones(1);
  const auto each = [](const Tensor& by, const Tensor& x) {
    return std::vector<Tensor>{-by * x, by * 2.0 * x, (by + 0.2) * x, 1 / by / 3.0 * x, (0.3 - by) * x, full({1}, -by) * 3.0 * x};
  };
  const std::vector<double> wanted = {-0.1, 0.1 * 2.0, 0.1 + 0.2, 1 / 0.1 / 3.0, 0.3 - 0.1, -0.1 * 3.0};
  auto traced = function([&](Tensor x) { return each(k, x); }, {.name = "traced"});
  const std::vector<Tensor> eager = each(k, d), compiled = traced(d);
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(eager[i].item<double>(), wanted[i]) << i;
    EXPECT_EQ(compiled[i].item<double>(), wanted[i]) << i;
    EXPECT_EQ(each(k, 1.0)[i].dtype(), f32) << i;
  }
  EXPECT_EQ((-k).item<float>(), -0.1f);
  EXPECT_EQ((k * 3.0).item<float>(), 0.1f * 3.0f);  // as ever
  EXPECT_EQ((1e300 * Tensor(1e-300) * d).item<double>(), 1);
}

TEST(HostNumbers, gradients_go_through_their_arithmetic) {
  const Tensor k = full({}, 0.1), d = f64_ones(2);
  GradientTape tape;
  tape.watch(k);
  const Tensor product = sum(-k * 3.0 * d);
  EXPECT_EQ(product.item<double>(), 2 * (-0.1 * 3.0));
  EXPECT_EQ(tape.gradient(product, {k})[0].item<float>(), -6.0f);
}

// Elements are of their dtype: what is no number of the host's any more has no other digits.
TEST(HostNumbers, variables_and_other_ops_hold_elements) {
  const Variable single(full({1}, 0.1)), wide(full({1}, 0.1, {.dtype = f64}));
  EXPECT_EQ(single.dtype(), f32);
  EXPECT_EQ((single * f64_ones(1)).item<double>(), static_cast<double>(0.1f));
  EXPECT_EQ((reshape(full({2, 1}, 0.1), {1, 2}) * f64_ones(1)).to_vector<double>(), std::vector<double>(2, static_cast<double>(0.1f)));
  EXPECT_THROW(wide.assign(full({1}, 0.2)), DtypeError);
  wide.assign(cast(full({1}, 0.2), f64));  // as the error says
  EXPECT_EQ(wide.read().item<double>(), 0.2);
}

TEST(HostNumbers, traces_fill_and_branch_with_all_digits) {
  auto filled = function([](Tensor x) { return x + full({x.shape()[0]}, 0.1); }, {.name = "filled"});
  EXPECT_EQ(filled(zeros({2}, {.dtype = f64})).to_vector<double>(), (std::vector<double>{0.1, 0.1}));
  auto branch =
      function([](Tensor x, Tensor by) { return cond(sum(x) > 0.0, [&] { return x * by; }, [&] { return x - by; }); }, {.name = "branch"});
  EXPECT_EQ(branch(f64_ones(1), 0.1).item<double>(), 0.1);
  EXPECT_EQ(branch(zeros({1}, {.dtype = f64}), 0.1).item<double>(), -0.1);
}

TEST(HostNumbers, the_gradient_of_such_an_argument_is_there) {
  auto slope = function(
      [](Tensor x, Tensor by) {
        GradientTape tape;
        tape.watch(by);
        return tape.gradient(sum(x * by), {by})[0];
      },
      {.name = "slope"});
  EXPECT_EQ(slope(f64_ones(4), 0.1).item<float>(), 4.0f);
}

}  // namespace
}  // namespace anyshape::test
