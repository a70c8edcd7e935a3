// f16 and bf16 in kernels: conversions against the compiler's own, the same bits interpreted and compiled, on this processor and lesser ones.
#include "codegen/run_both.h"
#include "tensor/element.h"

namespace anyshape::codegen {
namespace {

using loop::Builder;
using loop::Value;

// y[i] = x[i], by way of the conversions that the two buffers call for.
Compiled copying(Dtype from, Dtype to) {
  Builder b("copy");
  const int32_t x = b.buffer("x", from, loop::Access::In), y = b.buffer("y", to, loop::Access::Out);
  b.vector_for(b.integer(0), b.size("n"), [&](Value i) { b.store(y, i, b.cast(b.load(x, i), to)); });
  return Compiled(b.finish());
}

std::vector<Memory> copied(Dtype from, Dtype to, const Memory& x) {
  return copying(from, to).run_both({x, Memory(to, x.count)}, {x.count});
}

// Arithmetic types have no denormals in kernels, so a conversion that passes through f64 may see a zero instead.
template <class Half>
void expect_bits(const std::vector<Memory>& memory, int64_t i, Half expected, double number) {
  const uint16_t got = memory[1].as<uint16_t>()[i];
  if (std::isnan(number)) {
    EXPECT_TRUE(std::isnan(static_cast<float>(std::bit_cast<Half>(got)))) << i;
  } else if (got != expected.bits) {
    EXPECT_LT(std::abs(number), 0x1p-126) << "element " << i << ": " << number << " is " << got << ", expected " << expected.bits;
    EXPECT_EQ(got & 0x7fff, 0);
  }
}

template <class Half>
void expect_every_half_widens() {
  const Dtype half = std::is_same_v<Half, Float16> ? Dtype::f16 : Dtype::bf16;
  Memory x(half, 65536);
  for (int i = 0; i < 65536; ++i) x.as<uint16_t>()[i] = static_cast<uint16_t>(i);
  const std::vector<Memory> memory = copied(half, Dtype::f32, x);
  for (int i = 0; i < 65536; ++i) {
    const float expected = std::bit_cast<Half>(static_cast<uint16_t>(i)), got = memory[1].as<float>()[i];
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << i;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(expected)) << i;
    }
  }
  // Moved, not converted: even the bits of NaNs stay.
  const std::vector<Memory> moved = copied(half, half, x);
  EXPECT_EQ(std::memcmp(moved[1].bytes.data(), x.bytes.data(), 2 * 65536), 0);
}

TEST(Half, every_f16_and_bf16_widens_to_its_number) {
  expect_every_half_widens<Float16>();
  expect_every_half_widens<Bfloat16>();
}

// Both sides and the middle of every pair of neighbours, and one last place beside the middle: where rounding has to decide.
template <class Half>
std::vector<float> borders() {
  std::vector<float> numbers;
  for (int bits = 0; bits < 0x7fff; bits += 7) {
    const float low = std::bit_cast<Half>(static_cast<uint16_t>(bits)), high = std::bit_cast<Half>(static_cast<uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    for (const float number : {low, middle, std::nextafter(middle, 0.F), std::nextafter(middle, INFINITY)}) {
      numbers.push_back(number);
      numbers.push_back(-number);
    }
  }
  for (const float number : {65504.F, 65519.99F, 65520.F, 65536.F, 0x1p-24F, 0x1p-25F, 0x1.8p-25F, 0x1p-26F, 0x1p-127F, 3.4e38F, 3.4028e38F,
                             INFINITY, std::numeric_limits<float>::max(), std::numeric_limits<float>::quiet_NaN()}) {
    numbers.push_back(number);
    numbers.push_back(-number);
  }
  return numbers;
}

template <class Half>
void expect_floats_round() {
  const Dtype half = std::is_same_v<Half, Float16> ? Dtype::f16 : Dtype::bf16;
  const std::vector<float> numbers = borders<Half>();
  const auto count = static_cast<int64_t>(numbers.size());
  Memory narrow(Dtype::f32, count), wide(Dtype::f64, 2 * count);
  for (int64_t i = 0; i < count; ++i) {
    const float number = numbers[static_cast<size_t>(i)];
    narrow.as<float>()[i] = number;
    // Beside an f32 too near for it to show: rounding twice would take the tie.
    wide.as<double>()[2 * i] = static_cast<double>(number) * (1 + 0x1p-40);
    wide.as<double>()[2 * i + 1] = static_cast<double>(number) * (1 - 0x1p-40);
  }
  const std::vector<Memory> from_f32 = copied(Dtype::f32, half, narrow), from_f64 = copied(Dtype::f64, half, wide);
  for (int64_t i = 0; i < count; ++i) {
    const auto number = static_cast<double>(numbers[static_cast<size_t>(i)]);
    ASSERT_NO_FATAL_FAILURE(expect_bits(from_f32, i, Half(number), number));
  }
  for (int64_t i = 0; i < 2 * count; ++i) {
    const double number = wide.as<double>()[i];
    ASSERT_NO_FATAL_FAILURE(expect_bits(from_f64, i, Half(number), number));
  }
}

TEST(Half, floats_round_once_to_the_nearest_and_ties_to_even) {
  expect_floats_round<Float16>();
  expect_floats_round<Bfloat16>();
}

TEST(Half, integers_round_once) {
  const std::vector<int64_t> numbers = {0,
                                        1,
                                        -1,
                                        2049,
                                        2051,
                                        65504,
                                        65519,
                                        65520,
                                        -65520,
                                        257,
                                        259,
                                        (1LL << 40) + (1LL << 32),
                                        (1LL << 40) + (1LL << 32) + 1,
                                        (1LL << 62) + (1LL << 54),
                                        (1LL << 62) + (1LL << 54) + 1,
                                        -(1LL << 62) - (1LL << 54) - 1,
                                        INT64_MAX,
                                        INT64_MIN};
  const auto count = static_cast<int64_t>(numbers.size());
  Memory x(Dtype::i64, count);
  std::copy(numbers.begin(), numbers.end(), x.as<int64_t>());
  const std::vector<Memory> f16 = copied(Dtype::i64, Dtype::f16, x), bf16 = copied(Dtype::i64, Dtype::bf16, x);
  const std::vector<uint16_t> expected_f16 = {0,      0x3c00, 0xbc00, 0x6800, 0x6802, 0x7bff, 0x7bff, 0x7c00, 0xfc00,
                                              0x5c04, 0x5c0c, 0x7c00, 0x7c00, 0x7c00, 0x7c00, 0xfc00, 0x7c00, 0xfc00};
  const std::vector<uint16_t> expected_bf16 = {0,      0x3f80, 0xbf80, 0x4500, 0x4500, 0x4780, 0x4780, 0x4780, 0xc780,
                                               0x4380, 0x4382, 0x5380, 0x5381, 0x5e80, 0x5e81, 0xde81, 0x5f00, 0xdf00};
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_EQ(f16[1].as<uint16_t>()[i], expected_f16[static_cast<size_t>(i)]) << numbers[static_cast<size_t>(i)];
    EXPECT_EQ(bf16[1].as<uint16_t>()[i], expected_bf16[static_cast<size_t>(i)]) << numbers[static_cast<size_t>(i)];
  }
}

TEST(Half, converts_to_and_from_every_dtype_with_the_same_bits_interpreted_and_compiled) {
  for (const Dtype half : {Dtype::f16, Dtype::bf16}) {
    for (const Dtype other : {Dtype::b8, Dtype::u8, Dtype::i32, Dtype::i64, Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64}) {
      const Compiled narrowing = copying(other, half), widening = copying(half, other);
      for (const int64_t n : {0, 1, 15, 16, 17, 33, 200}) {
        narrowing.run_both({random_memory(other, n, 5), Memory(half, n)}, {n});
        widening.run_both({random_memory(half, n, 6), Memory(other, n)}, {n});
      }
    }
  }
}

TEST(Half, reads_with_steps_sums_in_f32_and_reads_back_its_text) {
  for (const Dtype half : {Dtype::f16, Dtype::bf16}) {
    Builder b("sum");
    const int32_t x = b.buffer("x", half, loop::Access::In), y = b.buffer("y", half, loop::Access::Out);
    const Value n = b.size("n"), step = b.size("step");
    b.store(y, b.integer(0), b.reduce(b.integer(0), n, loop::Combine::Sum, [&](Value i) { return b.load(x, b.multiply(i, step)); }));
    const loop::Kernel kernel = b.finish();
    EXPECT_EQ(loop::print(loop::parse(loop::print(kernel))), loop::print(kernel));
    const Compiled compiled(kernel);
    for (const int64_t count : {0, 1, 7, 16, 40}) {
      Memory numbers(half, 200);
      for (int i = 0; i < 200; ++i) numbers.as<uint16_t>()[i] = half == Dtype::f16 ? Float16(i % 7).bits : Bfloat16(i % 7).bits;
      const std::vector<Memory> memory = compiled.run_both({numbers, Memory(half, 1)}, {count, 3});
      double expected = 0;
      for (int64_t i = 0; i < count; ++i) expected += static_cast<double>(i * 3 % 7);
      const uint16_t got = memory[1].as<uint16_t>()[0];
      EXPECT_EQ(got, half == Dtype::f16 ? Float16(expected).bits : Bfloat16(expected).bits);
    }
  }
}

}  // namespace
}  // namespace anyshape::codegen
