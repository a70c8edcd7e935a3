// Products of vectors and of tiny matrices are generated loops: against loops in f64 for all transposes and sizes, with the same bits for any
// number of threads and interpreted, and with the infinities, zeros and roundings of a product.
#include "base/switches.h"
#include "function/compile.h"
#include "function/small_network.h"
#include "runtime/cpu/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace anyshape::test {
namespace {

struct Case {
  std::vector<int64_t> batch_a, batch_b;
  int64_t m, k, n;
};

std::vector<int64_t> sizes_of(std::vector<int64_t> batch, int64_t rows, int64_t columns, bool transposed) {
  batch.push_back(transposed ? columns : rows);
  batch.push_back(transposed ? rows : columns);
  return batch;
}

// Sizes are constants, so that all that can be known of them is known.
auto exact_product(MatmulOptions options) {
  return function([options](Tensor a, Tensor b) { return matmul(a, b, options); }, {.name = "product", .shapes = Shapes::Exact});
}

// One after the other, of operands with equal batches, or of one matrix with many.
std::vector<double> by_hand(const Case& each, const Tensor& a, const Tensor& b, MatmulOptions options) {
  const std::vector<double> x = cast(a, f64).to_vector<double>(), y = cast(b, f64).to_vector<double>();
  const auto count = [](const std::vector<int64_t>& sizes) {
    int64_t product = 1;
    for (const int64_t size : sizes) product *= size;
    return product;
  };
  const int64_t of_a = count(each.batch_a), of_b = count(each.batch_b), entries = of_a == 1 ? of_b : of_a;
  std::vector<double> result;
  for (int64_t entry = 0; entry < entries; ++entry) {
    const int64_t from_a = of_a == 1 ? 0 : entry * each.m * each.k, from_b = of_b == 1 ? 0 : entry * each.k * each.n;
    for (int64_t i = 0; i < each.m; ++i) {
      for (int64_t j = 0; j < each.n; ++j) {
        double sum = 0;
        for (int64_t step = 0; step < each.k; ++step) {
          const int64_t at_a = from_a + (options.transpose_a ? step * each.m + i : i * each.k + step);
          const int64_t at_b = from_b + (options.transpose_b ? j * each.k + step : step * each.n + j);
          sum += x[static_cast<size_t>(at_a)] * y[static_cast<size_t>(at_b)];
        }
        result.push_back(sum);
      }
    }
  }
  return result;
}

void expect_products(std::mt19937& host, const Case& each, Dtype dtype, double tolerance) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const MatmulOptions options{transpose_a, transpose_b};
      const Tensor a = random_tensor(host, sizes_of(each.batch_a, each.m, each.k, transpose_a), dtype);
      const Tensor b = random_tensor(host, sizes_of(each.batch_b, each.k, each.n, transpose_b), dtype);
      const std::vector<double> wanted = by_hand(each, a, b, options);
      const std::vector<double> got = cast(exact_product(options)(a, b), f64).to_vector<double>();
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], wanted[i], tolerance * (1 + std::abs(wanted[i]))) << to_string(a.shape()) << " " << to_string(b.shape());
      }
    }
  }
}

TEST(ExpandProducts, are_products_for_all_small_sizes) {
  const function_detail::ScopedInterpretation interpretation;
  std::mt19937 host(3);
  for (const int64_t m : {0, 1, 3}) {
    for (const int64_t k : {0, 1, 4}) {
      for (const int64_t n : {0, 1, 2}) {
        expect_products(host, {{}, {}, m, k, n}, f32, 1e-5);
        expect_products(host, {{2, 3}, {2, 3}, m, k, n}, f64, 1e-13);
        expect_products(host, {{3}, {}, m, k, n}, f32, 1e-5);
        expect_products(host, {{}, {0}, m, k, n}, f32, 1e-5);
        expect_products(host, {{}, {2, 1}, m, k, n}, f32, 1e-5);
      }
    }
  }
}

TEST(ExpandProducts, are_products_where_rows_are_long) {
  std::mt19937 host(5);
  for (const Case& each : {Case{{}, {}, 5, 70, 1},
                           {{}, {}, 1, 70, 5},
                           {{}, {}, 70, 3, 1},
                           {{}, {}, 1, 3, 70},
                           {{}, {}, 5, 1, 70},
                           {{}, {}, 1, 40'000, 1},
                           {{3}, {3}, 4, 5, 1},
                           {{3}, {3}, 1, 5, 4},
                           {{3}, {}, 2, 70, 1}}) {
    expect_products(host, each, f32, 2e-4);
  }
}

TEST(ExpandProducts, halves_and_integers_are_added_up_as_in_a_product) {
  const function_detail::ScopedInterpretation interpretation;
  std::mt19937 host(7);
  for (const Case& each : {Case{{}, {}, 3, 100, 1}, {{}, {}, 1, 100, 3}, {{}, {}, 3, 1, 40}, {{4}, {4}, 2, 3, 2}}) {
    // Rounded once: half a unit in the last place, and what f32 adds to it.
    expect_products(host, each, bf16, 1.01 / 256);
    expect_products(host, each, f16, 1.01 / 2048);
  }
  // (1 + 1/128)^2 has more digits than a bf16 holds: what is left when 1 + 1/64 is taken off shows whether it was rounded by itself.
  std::vector<float> left(100, 0), right(100, 0);
  left[0] = right[0] = 1 + 1.0F / 128;
  left[1] = -1;
  right[1] = 1 + 1.0F / 64;
  const Tensor rest = exact_product({})(cast(tensor(left, {1, 100}), bf16), cast(tensor(right, {100, 1}), bf16));
  EXPECT_EQ(cast(rest, f32).item<float>(), 1.0F / 16384);
  const Tensor large = cast(full({1, 100}, 100), u8);
  EXPECT_EQ(exact_product({.transpose_b = true})(large, large).item<int64_t>(), 100 * 100 * 100 % 256);
}

// Two of a kind, with the library and with loops.
Tensor product_of(const Tensor& a, const Tensor& b, MatmulOptions options, bool expanded) {
  std::optional<ScopedWithout> without;
  if (!expanded) without.emplace("expand_products");
  return exact_product(options)(a, b);
}

TEST(ExpandProducts, nothing_times_an_infinity_is_no_number_and_no_zero_is_negative) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const bool expanded : {false, true}) {
    const Tensor outer =
        product_of(tensor(std::vector<float>{0.0F, -1.0F}, {2, 1}), tensor(std::vector<float>(40, 0.0F), {1, 40}), {}, expanded);
    for (const float each : outer.to_vector<float>()) EXPECT_FALSE(std::signbit(each));
    const Tensor endless = product_of(tensor(std::vector<float>{0.0F, -1.0F}, {2, 1}), full({1, 40}, infinity), {}, expanded);
    EXPECT_TRUE(std::isnan(endless.to_vector<float>()[0]));
    EXPECT_EQ(endless.to_vector<float>()[40], -infinity);
    const Tensor dot = product_of(zeros({1, 70}), full({70, 1}, infinity), {}, expanded);
    EXPECT_TRUE(std::isnan(dot.item<float>()));
    const Tensor tiny = product_of(zeros({5, 2, 2}), full({5, 2, 2}, infinity), {}, expanded);
    for (const float each : tiny.to_vector<float>()) EXPECT_TRUE(std::isnan(each));
  }
}

TEST(ExpandProducts, have_the_same_bits_for_any_number_of_threads) {
  std::mt19937 host(11);
  for (const Case& each : {Case{{}, {}, 700, 300, 1},
                           {{}, {}, 1, 300, 700},
                           {{}, {}, 1, 100'000, 1},
                           {{}, {}, 700, 1, 300},
                           {{3000}, {3000}, 3, 3, 3},
                           {{40}, {40}, 30, 100, 1}}) {
    for (const bool transpose : {false, true}) {
      const MatmulOptions options{transpose, transpose};
      const Tensor a = random_tensor(host, sizes_of(each.batch_a, each.m, each.k, transpose), f32);
      const Tensor b = random_tensor(host, sizes_of(each.batch_b, each.k, each.n, transpose), f32);
      const auto compiled = exact_product(options);
      std::vector<std::vector<float>> results;
      for (const int threads : {1, 2, 3, 8}) {
        const runtime::ScopedPool pool(threads);
        results.push_back(compiled(a, b).to_vector<float>());
      }
      {
        const function_detail::ScopedInterpretation interpretation;
        results.push_back(exact_product(options)(a, b).to_vector<float>());
      }
      for (const std::vector<float>& result : results)
        EXPECT_EQ(std::memcmp(result.data(), results[0].data(), result.size() * sizeof(float)), 0) << to_string(a.shape());
    }
  }
}

// The last layer of a model for one number, and its gradients.
TEST(ExpandProducts, a_layer_of_one_unit_and_its_gradients_call_no_library) {
  std::mt19937 host(13);
  const Tensor x = random_tensor(host, {32, 128}, f32), y = random_tensor(host, {32, 1}, f32);
  const auto step = [](Tensor weights, Tensor inputs, Tensor targets) {
    const Tensor error = matmul(inputs, weights) - targets;
    return std::vector<Tensor>{error, matmul(inputs, error, {.transpose_a = true}), matmul(error, weights, {.transpose_b = true})};
  };
  const Tensor w = random_tensor(host, {128, 1}, f32);
  const TensorSpec of_weights{f32, {128, 1}, {}}, of_inputs{f32, {dim("batch"), 128}, {}}, of_targets{f32, {dim("batch"), 1}, {}};
  const auto expanded = function(step, {.name = "unit", .signature = {of_weights, of_inputs, of_targets}});
  const std::vector<Tensor> got = expanded(w, x, y), wanted = step(cast(w, f64), cast(x, f64), cast(y, f64));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(all_close(cast(got[i], f64), wanted[i], {.relative = 1e-5, .absolute = 1e-4})) << i;
  const std::string text = expanded.explain({.detail = Detail::Full});
  EXPECT_EQ(text.find("  product "), std::string::npos) << text;
  EXPECT_NE(text.find("with a vector: a sum that joins what is around it"), std::string::npos) << text;
  EXPECT_NE(text.find("of one term each: a multiplication"), std::string::npos) << text;
}

}  // namespace
}  // namespace anyshape::test
