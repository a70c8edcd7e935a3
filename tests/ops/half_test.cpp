// f16 and bf16 as users meet them: made, read, converted, computed with in f32, moved, traced and differentiated.
#include "ops/expect_error.h"
#include "ops/expect_traced.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

TEST(Half, tensors_are_made_and_read_as_floats) {
  for (const Dtype half : {f16, bf16}) {
    EXPECT_EQ(ones({2}, {.dtype = half}).to_vector<float>(), (Floats{1, 1}));
    EXPECT_EQ(zeros({0, 2}, {.dtype = half}).to_vector<float>(), Floats{});
    const Tensor full_half = full({1, 2}, cast(1.5, half));
    EXPECT_EQ(full_half.dtype(), half);
    EXPECT_EQ(full_half.to_vector<float>(), (Floats{1.5F, 1.5F}));
    EXPECT_EQ(arange(4, {.dtype = half}).to_vector<float>(), (Floats{0, 1, 2, 3}));
    EXPECT_EQ(linspace(0, 1, 3, {.dtype = half}).to_vector<float>(), (Floats{0, 0.5F, 1}));
    EXPECT_EQ(eye(2, {.dtype = half}).to_vector<float>(), (Floats{1, 0, 0, 1}));
    EXPECT_EQ(one_hot(tensor({1, 0}), 2, {.dtype = half}).to_vector<float>(), (Floats{0, 1, 1, 0}));
    EXPECT_EQ(zeros_like(full_half).dtype(), half);
    EXPECT_EQ(cast(tensor({2.5F}), half).item<float>(), 2.5F);
    EXPECT_EQ(cast(tensor({2.5F}), half).item<int32_t>(), 2);
  }
  expect_error<DtypeError>([] { ones({2}, {.dtype = f16}).to_vector<double>(); },
                           "to_vector: the tensor is f16[2], its elements were asked for as f64 (double); expected the same type. Use "
                           "cast(tensor, f64) first.");
  const std::vector<uint16_t> bits = {0x3c00, 0xc000};
  EXPECT_EQ(from_memory(static_cast<const void*>(bits.data()), f16, {2}).to_vector<float>(), (Floats{1, -2}));
}

TEST(Half, casts_round_to_the_nearest) {
  const Tensor numbers = tensor({1.0004885F, 2049.F, 65519.F, 65520.F, -1e30F, 0x1p-24F, 0x1p-25F, 1.00390625F, 0x1.7p-25F});
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(cast(numbers, f16).to_vector<float>(),
            (Floats{1.0009766F, 2048, 65504, infinity, -infinity, 0x1p-24F, 0, 1.00390625F, 0x1p-24F}));
  EXPECT_EQ(cast(numbers, bf16).to_vector<float>(), (Floats{1, 2048, 65536, 65536, -0x1.94p99F, 0x1p-24F, 0x1p-25F, 1, 0x1.7p-25F}));
  EXPECT_TRUE(std::isnan(cast(tensor({NAN}), f16).item<float>()));
  EXPECT_TRUE(std::isnan(cast(tensor({NAN}), bf16).item<float>()));
  EXPECT_EQ(cast(cast(tensor({300, -1, 0}), f16), u8).to_vector<uint8_t>(), (std::vector<uint8_t>{255, 0, 0}));
  EXPECT_EQ(cast(cast(tensor({0.F, -2.F}), bf16), b8).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ(cast(cast(tensor({1.25, 7.0}), f16), f64).to_vector<double>(), (std::vector<double>{1.25, 7}));
}

TEST(Half, promotes_as_the_order_of_dtypes_says) {
  const Tensor f = ones({2}, {.dtype = f16}), b = ones({2}, {.dtype = bf16});
  EXPECT_EQ((f + b).dtype(), f32);
  EXPECT_EQ((f + f).dtype(), f16);
  EXPECT_EQ((f + tensor({1, 2})).dtype(), f16);
  EXPECT_EQ((tensor({true, false}) * b).dtype(), bf16);
  EXPECT_EQ((f + tensor({1.F, 2.F})).dtype(), f32);
  EXPECT_EQ((b + tensor({1.0, 2.0})).dtype(), f64);
  EXPECT_EQ((f * 2.5).dtype(), f16);
  EXPECT_EQ((f < f).dtype(), b8);
  EXPECT_EQ(where(tensor({true, false}), f, b).dtype(), f32);
}

TEST(Half, computes_in_f32_and_rounds_once) {
  // In f16 alone 2048 + 1 stays 2048 for ever, and the sum of squares below is infinite.
  EXPECT_EQ(sum(ones({5000}, {.dtype = f16})).item<float>(), 5000.F);
  EXPECT_EQ(sum(ones({300, 70}, {.dtype = bf16}), {.axes = {0}}).to_vector<float>(), Floats(70, 300.F));
  const Tensor large = full({1000}, cast(300, f16));
  EXPECT_EQ(mean(large).item<float>(), 300.F);
  EXPECT_EQ(mean(large).dtype(), f16);
  EXPECT_EQ(var(large).item<float>(), 0.F);
  EXPECT_EQ(norm(full({100}, cast(300, f16))).item<float>(), 3000.F);
  EXPECT_NEAR(logsumexp(large).item<float>(), 300 + std::log(1000), 0.25);
  EXPECT_EQ(softmax(zeros({4}, {.dtype = bf16})).to_vector<float>(), Floats(4, 0.25F));
  EXPECT_EQ(matmul(large, large).item<float>(), std::numeric_limits<float>::infinity());
  EXPECT_EQ(matmul(ones({3, 4096}, {.dtype = f16}), ones({4096, 2}, {.dtype = f16})).to_vector<float>(), Floats(6, 4096.F));
  EXPECT_EQ(max(cumsum(ones({3000}, {.dtype = f16}))).item<float>(), 3000.F);
  EXPECT_EQ(scatter_add(zeros({1}, {.dtype = f16}), zeros({3000, 1}, {.dtype = i32}), ones({3000}, {.dtype = f16})).to_vector<float>(),
            Floats{3000});
  EXPECT_EQ(max(cast(tensor({1.F, 3.F, 2.F}), bf16)).item<float>(), 3.F);
  EXPECT_EQ(argmax(cast(tensor({1.F, 3.F, 2.F}), f16)).item<int32_t>(), 1);
  EXPECT_EQ(exp(cast(tensor({1.F}), f16)).item<float>(), 2.71875F);
}

TEST(Half, is_moved_as_it_stands) {
  const std::vector<uint16_t> bits = {0x7d01, 0x8001, 0x0001, 0xfc00, 0x3c00, 0x7e00};  // a signaling NaN and denormals among them
  for (const Dtype half : {f16, bf16}) {
    const Tensor x = from_memory(static_cast<const void*>(bits.data()), half, {2, 3});
    const auto bits_of = [](const Tensor& tensor) {
      const Tensor dense = contiguous(tensor);
      const auto* from = host_data<const uint16_t>(dense);
      return std::vector<uint16_t>(from, from + dense.shape().count().value());
    };
    EXPECT_EQ(bits_of(transpose(x)), (std::vector<uint16_t>{0x7d01, 0xfc00, 0x8001, 0x3c00, 0x0001, 0x7e00}));
    EXPECT_EQ(bits_of(concat({x, x}, {.axis = 0})).size(), 12U);
    EXPECT_EQ(bits_of(concat({x, x}, {.axis = 0}))[6], 0x7d01);
    EXPECT_EQ(bits_of(take(x, tensor({1}), {.axis = 0})), (std::vector<uint16_t>{0xfc00, 0x3c00, 0x7e00}));
    EXPECT_EQ(bits_of(flip(x, {1}))[0], 0x0001);
    EXPECT_EQ(bits_of(tile(x, {1, 2})).size(), 12U);
    auto traced = function([](Tensor x) { return transpose(x); }, {.name = "moved"});
    EXPECT_EQ(bits_of(traced(x)), bits_of(transpose(x)));
  }
}

TEST(Half, is_the_same_traced_as_eager) {
  const auto chain = [](const std::vector<Tensor>& in) { return sum(exp(in[0] * 0.25) - in[0] / 3, {.axes = {1}}); };
  for (const Dtype half : {f16, bf16}) {
    std::vector<std::vector<Tensor>> calls;
    for (const int64_t n : {0, 1, 5, 40}) calls.push_back({cast(random::normal({n, 7}), half)});
    expect_traced_as_eager(chain, calls);
  }
  // Not stored between two ops, and rounded all the same.
  const Tensor x = cast(random::normal({1000}), f16);
  auto traced = function([](Tensor x) { return x * 1.2345 + 1000; }, {.name = "rounded"});
  EXPECT_TRUE(all_equal(traced(x), x * 1.2345 + 1000));
}

TEST(Half, goes_in_and_out_of_functions) {
  const Tensor captured = cast(tensor({0.1F, 0.2F}), f16), scalar = cast(2, bf16);
  auto f = function([&](Tensor x) { return cast(x * captured, f32) * cast(scalar, f32); }, {.name = "captures"});
  EXPECT_TRUE(all_equal(f(ones({2}, {.dtype = f16})), cast(captured, f32) * 2));
  auto out = function([](Tensor x) { return cast(x, bf16); }, {.name = "out", .signature = {spec(f16, {dim("n")}, "x")}});
  EXPECT_EQ(out(ones({3}, {.dtype = f16})).dtype(), bf16);
  EXPECT_THROW(out(ones({3})), SignatureError);
}

TEST(Half, gradients_flow_through_casts) {
  for (const Dtype half : {f16, bf16}) {
    const Tensor x = tensor({0.5F, -1.F, 2.F});
    GradientTape tape;
    tape.watch(x);
    const Tensor y = sum(cast(cast(x, half) * cast(x, half), f32));
    const Tensor dx = tape.gradient(y, x);
    EXPECT_EQ(dx.dtype(), f32);
    EXPECT_EQ(dx.to_vector<float>(), (Floats{1, -2, 4}));
  }
  const Tensor a = ones({2, 3}, {.dtype = f16}), b = ones({3, 2}, {.dtype = f16});
  GradientTape tape;
  tape.watch(a);
  EXPECT_EQ(tape.gradient(sum(matmul(a, b)), a).to_vector<float>(), Floats(6, 2.F));
}

TEST(Half, compares_and_prints) {
  const Tensor a = cast(tensor({0.1F, 1000.F}), f16), b = cast(tensor({0.1F, 1001.F}), f16);
  EXPECT_TRUE(all_equal(a, a));
  EXPECT_FALSE(all_equal(a, b));
  EXPECT_FALSE(all_equal(a, cast(a, f32)));
  EXPECT_TRUE(all_close(a, b, {.relative = 1e-2}));
  EXPECT_EQ(to_string(cast(tensor({0.1F, 2.F}), f16)), "[0.1 2. ]");
  EXPECT_EQ(to_string(cast(tensor({0.1F, 2.F}), bf16)), "[0.1 2. ]");
}

TEST(Half, random_numbers_are_made_in_f32) {
  expect_error<DtypeError>([] { random::normal({2}, {.dtype = f16}); },
                           "random::normal: random numbers of dtype f16; expected f32 or f64. Make f32 and cast it.");
}

}  // namespace
}  // namespace anyshape
