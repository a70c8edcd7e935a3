// The normal form: random expressions keep their values, and the identities of arithmetic are one structure.
#include <anyshape/error.h>
#include <gtest/gtest.h>

#include <string>

#include "shape/dim_node.h"
#include "shape/dim_program.h"
#include "shape/parse.h"
#include "shape/prove.h"
#include "shape/random_expression.h"

namespace anyshape {
namespace {

using testing::RandomExpressions;

void expect_values_ranges_and_divisors(RandomExpressions random) {
  const std::vector<Dim> symbols = testing::some_symbols();
  int compared = 0;
  for (int round = 0; round < 6000; ++round) {
    const auto tree = random.tree(4, symbols.size());
    Dim dim;
    try {
      dim = testing::dim_of(*tree, symbols);
    } catch (const ShapeError&) {
      continue;  // a constant divisor of zero
    }
    for (int sample = 0; sample < 12; ++sample) {
      const std::vector<int64_t> values = testing::some_values(random);
      const std::optional<int64_t> expected = testing::value_of(*tree, values);
      if (!expected) continue;
      const int64_t value = evaluate(dim, testing::bind_values(symbols, values));
      ASSERT_EQ(value, *expected) << to_string(dim) << " at n, m, k, s = " << values[0] << ", " << values[1] << ", " << values[2] << ", "
                                  << values[3];
      ASSERT_LE(dim.lower_bound(), value) << to_string(dim);
      ASSERT_GE(dim.upper_bound(), value) << to_string(dim);
      const int64_t divisor = divisor_of(dim);
      ASSERT_TRUE(divisor == 0 ? value == 0 : value % divisor == 0) << to_string(dim);
      ++compared;
    }
  }
  EXPECT_GT(compared, 20000);
}

TEST(NormalForm, random_expressions_keep_their_values_ranges_and_divisors) {
  expect_values_ranges_and_divisors(RandomExpressions(7));
  expect_values_ranges_and_divisors(RandomExpressions(8, testing::operations_of_slices));
}

TEST(NormalForm, what_slices_leave_of_an_axis_is_one_structure) {
  const Dim n = dim("n"), m = dim("m"), left = max(n - 2, 0);
  EXPECT_TRUE((n - min(n, 2)).same_as(left));
  EXPECT_TRUE((m + n - min(2, n)).same_as(left + m));
  EXPECT_TRUE((2 * n - 2 * min(n, 2)).same_as(max(2 * n - 4, 0)));
  EXPECT_TRUE((max(n, m) - n).same_as(max(m - n, 0)));
  EXPECT_TRUE((min(n, m) - n).same_as(min(m - n, 0)));
  EXPECT_TRUE(max(max(n - 1, 0) - min(n, 1), 0).same_as(left));  // [1:-1]
  EXPECT_TRUE(max(left - 2, 0).same_as(max(n - 4, 0)));          // [:-2] of [:-2]
  EXPECT_TRUE((left - min(left, 2)).same_as(max(n - 4, 0)));     // [2:] of [2:]
  EXPECT_TRUE(max(max(left - 1, 0) - min(left, 1), 0).same_as(max(n - 4, 0)));
  EXPECT_EQ(to_string(left - min(left, 2)), "max(n - 4, 0)");
}

TEST(NormalForm, text_reads_back_as_the_same_expression) {
  RandomExpressions random(11);
  const std::vector<Dim> symbols = testing::some_symbols();
  const auto lookup = [&](std::string_view name) {
    for (const Dim& symbol : symbols) {
      if (as_symbol(symbol)->name == name) return symbol;
    }
    throw FormatError("unknown");
  };
  for (int round = 0; round < 4000; ++round) {
    try {
      const Dim dim = testing::dim_of(*random.tree(4, symbols.size()), symbols);
      ASSERT_TRUE(parse_dim(to_string(dim), lookup).same_as(dim))
          << to_string(dim) << " read as " << to_string(parse_dim(to_string(dim), lookup));
    } catch (const ShapeError&) {
    }
  }
}

TEST(NormalForm, programs_agree_with_evaluation) {
  RandomExpressions random(13);
  const std::vector<Dim> symbols = testing::some_symbols();
  for (int round = 0; round < 500; ++round) {
    DimProgram program(symbols);
    std::vector<Dim> dims;
    std::vector<int> slots;
    for (int i = 0; i < 4; ++i) {
      try {
        dims.push_back(testing::dim_of(*random.tree(4, symbols.size()), symbols));
        slots.push_back(program.add(dims.back()));
      } catch (const ShapeError&) {
      }
    }
    const std::vector<int64_t> values = testing::some_values(random);
    std::vector<int64_t> out(static_cast<size_t>(program.slot_count()));
    bool fails = false;
    try {
      program.run(values.data(), out.data());
    } catch (const ShapeError&) {
      fails = true;
    }
    bool expected_to_fail = false;
    for (size_t i = 0; i < slots.size(); ++i) {
      try {
        const int64_t value = evaluate(dims[i], testing::bind_values(symbols, values));
        ASSERT_TRUE(fails || out[static_cast<size_t>(slots[i])] == value) << to_string(dims[i]);
      } catch (const ShapeError&) {
        expected_to_fail = true;
      }
    }
    ASSERT_EQ(fails, expected_to_fail);
  }
}

TEST(NormalForm, equal_sizes_are_one_structure) {
  const Dim n = dim("n"), m = dim("m"), e = dim("e", {.multiple_of = 8});
  const std::pair<Dim, Dim> equals[] = {
      {n + m, m + n},
      {n * m * 2, 2 * m * n},
      {n - n, 0},
      {(n + 1) * (n - 1), n * n - 1},
      {(6 * n) / 6, n},
      {(6 * n + 5) / 6, n},
      {(2 * n) % 2, 0},
      {(2 * n + 1) % 2, 1},
      {(n * m) / m, n},
      {(n * m + n) / (m + 1), n},
      {(n / 2) / 3, n / 6},
      {(2 * n + 1) / 4, n / 2},
      {(n - 1) / 4 + 1, (n + 3) / 4},
      {n / 4 * 4 + n % 4, n},
      {e / 4 * 4, e},
      {e % 8, 0},
      {(e + 7) / 8, e / 8},
      {n % 4 % 4, n % 4},
      {(n % 4) / 4, 0},
      {n / -2, (0 - n) / 2},
      {min(n, n + 1), n},
      {max(n, n + 1), n + 1},
      {min(n, min(m, n)), min(m, n)},
      {max(n, 0), n},
      {min(n, 0), 0},
      {n * 0, 0},
      {n / 1, n},
      {n % 1, 0},
      {(n * m) / (2 * m), n / 2},
      {n / n, 1},
      {(n % m) * 0 + m, m},
  };
  for (const auto& [a, b] : equals) {
    EXPECT_TRUE(a.same_as(b)) << to_string(a) << " and " << to_string(b);
    EXPECT_EQ(hash_of(a), hash_of(b));
  }
  EXPECT_FALSE(n.same_as(m));
  EXPECT_FALSE(n.same_as(dim("n")));
  EXPECT_FALSE((n + 1).same_as(n + 2));
}

TEST(NormalForm, bcast_is_commutative_associative_idempotent_with_unit_1) {
  const Dim n = dim("n"), m = dim("m"), k = dim("k"), large = dim("large", {.min = 2});
  EXPECT_TRUE(bcast(n, m).same_as(bcast(m, n)));
  EXPECT_TRUE(bcast(bcast(n, m), k).same_as(bcast(n, bcast(k, m))));
  EXPECT_TRUE(bcast(n, n).same_as(n));
  EXPECT_TRUE(bcast(bcast(n, m), n).same_as(bcast(n, m)));
  EXPECT_TRUE(bcast(n, 1).same_as(n));
  EXPECT_TRUE(bcast(1, 1).same_as(1));
  EXPECT_TRUE(bcast(n, 5).same_as(5));
  EXPECT_TRUE(bcast(n, 0).same_as(0));
  EXPECT_TRUE(bcast(n, large).same_as(large));
  EXPECT_FALSE(bcast(n, m).same_as(max(n, m)));
  Bindings values;
  values.set(n, 0);
  values.set(m, 1);
  EXPECT_EQ(evaluate(bcast(n, m), values), 0);
}

TEST(NormalForm, any_number_of_sizes_is_broadcast) {
  Dim all = 1, again = 1;
  std::vector<Dim> sizes;
  Bindings values;
  for (int i = 0; i < 300; ++i) {
    sizes.push_back(dim("n" + std::to_string(i)));
    values.set(sizes.back(), i == 200 ? 7 : 1);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    all = bcast(all, sizes[i]);
    again = bcast(sizes[sizes.size() - 1 - i], again);
  }
  EXPECT_TRUE(all.same_as(again));
  EXPECT_EQ(evaluate(all, values), 7);
  const Dim large = dim("large", {.min = 2});
  EXPECT_TRUE(bcast(all, large).same_as(large));
}

TEST(NormalForm, overflow_and_division_by_zero_are_errors) {
  const Dim n = dim("n");
  const int64_t large = int64_t{1} << 62;
  EXPECT_THROW(n * large * 4, ShapeError);
  EXPECT_THROW(Dim(large) * 4, ShapeError);
  EXPECT_THROW((n + large) + large, ShapeError);
  EXPECT_THROW(n / 0, ShapeError);
  EXPECT_THROW(n % 0, ShapeError);
  Bindings values;
  values.set(n, large);
  EXPECT_THROW(evaluate(n * n, values), ShapeError);
  EXPECT_THROW(evaluate(n + dim("other"), values), TraceError);
}

TEST(NormalForm, expressions_without_end_are_refused) {
  Dim sum = 1;
  for (int i = 0; i < 12; ++i) sum = sum + dim("x");
  EXPECT_THROW(sum * sum * sum * sum, ShapeError);
  const Dim y = dim("y"), z = dim("z");
  Dim doubled = dim("x");
  EXPECT_THROW(for (int i = 0; i < 100; ++i) doubled = max(doubled / y, (doubled + y) % z), ShapeError);
  Dim product = dim("x");
  EXPECT_THROW(for (int i = 0; i < 70; ++i) product = product * product, ShapeError);
}

TEST(NormalForm, options_of_a_symbol_are_validated_and_give_its_range) {
  EXPECT_THROW(dim(""), ArgumentError);
  EXPECT_THROW(dim("two words"), ArgumentError);
  EXPECT_THROW(dim("n", {.min = -1}), ArgumentError);
  EXPECT_THROW(dim("n", {.min = 5, .max = 4}), ArgumentError);
  EXPECT_THROW(dim("n", {.multiple_of = 0}), ArgumentError);
  EXPECT_THROW(dim("n", {.min = 9, .max = 15, .multiple_of = 8}), ArgumentError);
  const Dim n = dim("n", {.min = 3, .max = 30, .multiple_of = 8});
  EXPECT_EQ(n.lower_bound(), 8);
  EXPECT_EQ(n.upper_bound(), 24);
  EXPECT_EQ((n + 1).lower_bound(), 9);
  EXPECT_EQ((3 - n).upper_bound(), -5);
  EXPECT_EQ((n / 5).upper_bound(), 4);
  EXPECT_TRUE(is_dynamic(dynamic));
  EXPECT_FALSE(is_dynamic(n));
}

}  // namespace
}  // namespace anyshape
