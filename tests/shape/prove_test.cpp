// Proofs never contradict values, with and without facts; comparisons in user code go to the judge only where nothing is proved.
#include <anyshape/error.h>
#include <anyshape/shape.h>
#include <gtest/gtest.h>

#include "shape/judge.h"
#include "shape/prove.h"
#include "shape/random_expression.h"
#include "shape/substitute.h"

namespace anyshape {
namespace {

using testing::RandomExpressions;
constexpr Relation all_relations[] = {Relation::Equal, Relation::NotEqual, Relation::Less, Relation::LessEqual, Relation::Broadcastable};

void expect_no_contradiction(RandomExpressions random) {
  const std::vector<Dim> symbols = testing::some_symbols();
  int proved = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto x = random.tree(3, symbols.size()), y = random.tree(2, symbols.size());
    try {
      const Dim a = testing::dim_of(*x, symbols), b = testing::dim_of(*y, symbols);
      for (const Relation relation : all_relations) {
        const std::optional<bool> known = proves(relation, a, b);
        proved += known.has_value() ? 1 : 0;
        for (int sample = 0; sample < 10 && known; ++sample) {
          const std::vector<int64_t> values = testing::some_values(random);
          const std::optional<int64_t> p = testing::value_of(*x, values), q = testing::value_of(*y, values);
          ASSERT_TRUE(!p || !q || holds(relation, *p, *q) == *known) << to_string(SizeCheck{relation, a, b});
        }
      }
    } catch (const ShapeError&) {
    }
  }
  EXPECT_GT(proved, 2000);
}

TEST(Prove, never_contradicts_a_value) {
  expect_no_contradiction(RandomExpressions(17));
  expect_no_contradiction(RandomExpressions(18, testing::operations_of_slices));
}

TEST(Prove, facts_never_contradict_values_that_meet_them) {
  RandomExpressions random(19);
  const std::vector<Dim> symbols = testing::some_symbols();
  int compared = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::shared_ptr<testing::Tree> trees[] = {random.tree(1, symbols.size()), random.tree(1, symbols.size()),
                                                    random.tree(2, symbols.size()), random.tree(2, symbols.size()),
                                                    random.tree(1, symbols.size()), random.tree(1, symbols.size())};
    try {
      std::vector<Dim> dims;
      for (const auto& tree : trees) dims.push_back(testing::dim_of(*tree, symbols));
      const Relation first = all_relations[random.between(0, 4)], second = all_relations[random.between(0, 4)];
      Facts facts;
      facts.assume({first, dims[0], dims[1]});
      facts.assume({second, dims[4], dims[5]});
      const Dim simple = facts.simplify(dims[2]);
      for (int sample = 0; sample < 40; ++sample) {
        const std::vector<int64_t> values = testing::some_values(random);
        std::vector<int64_t> v;
        for (const auto& tree : trees) {
          if (const auto value = testing::value_of(*tree, values)) v.push_back(*value);
        }
        if (v.size() < 6 || !holds(first, v[0], v[1]) || !holds(second, v[4], v[5])) continue;
        ++compared;
        ASSERT_EQ(evaluate(simple, testing::bind_values(symbols, values)), v[2])
            << to_string(dims[2]) << " given " << to_string(SizeCheck{first, dims[0], dims[1]});
        for (const Relation relation : all_relations) {
          const std::optional<bool> known = facts.proves(relation, dims[2], dims[3]);
          ASSERT_TRUE(!known || *known == holds(relation, v[2], v[3])) << to_string(SizeCheck{relation, dims[2], dims[3]});
        }
      }
    } catch (const ShapeError&) {
    }
  }
  EXPECT_GT(compared, 10000);
}

TEST(Prove, finds_what_ranges_parity_and_operations_say) {
  const Dim n = dim("n"), m = dim("m", {.min = 1}), k = dim("k", {.multiple_of = 4});
  EXPECT_EQ(proves_equal(n + 1, n), false);
  EXPECT_EQ(proves_equal(2 * n, 2 * m + 1), false);
  EXPECT_EQ(proves_equal(k, 6), false);
  EXPECT_EQ(proves_equal(n, m), std::nullopt);
  EXPECT_EQ(proves_less(n, n + 1), true);
  EXPECT_EQ(proves_less_equal(0, n), true);
  EXPECT_EQ(proves_less(n, 0), false);
  EXPECT_EQ(proves_less_equal(min(n, 3), n), true);
  EXPECT_EQ(proves_less_equal(n, max(n, m)), true);
  const Dim left = max(n - 2, 0);  // ranges of what an earlier range left lie inside it, and sizes written in two ways are equal
  EXPECT_EQ(proves_less_equal(min(left, 1) + max(n - 4, 0), left), true);
  EXPECT_EQ(proves_less_equal(max(min(n, 1), n - 1), n), true);
  EXPECT_EQ(proves_equal(max(n, 2), left + 2), true);
  EXPECT_EQ(proves_less_equal(n / 2, n), true);
  EXPECT_EQ(proves_less_equal(n / 4 * 4, n), true);
  EXPECT_EQ(proves_less(n % m, m), true);
  EXPECT_EQ(proves_less_equal(n * min(m, 3), n * m), true);
  EXPECT_EQ(proves(Relation::Broadcastable, n, 1), true);
  EXPECT_EQ(proves(Relation::Broadcastable, k + 2, 4 * m), false);
  EXPECT_EQ(proves(Relation::Broadcastable, n, m), std::nullopt);
}

TEST(Facts, a_checked_equality_is_put_in_from_there_on) {
  const Dim n = dim("n"), m = dim("m"), k = dim("k", {.min = 3}), r = dim("r");
  Facts facts;
  facts.assume_equal(n, m);
  EXPECT_TRUE(facts.simplify(m + 1).same_as(n + 1));
  EXPECT_TRUE(facts.simplify(bcast(n, m)).same_as(n));
  EXPECT_EQ(facts.proves_equal(n * m, n * n), true);
  facts.assume_equal(m, k);
  EXPECT_EQ(facts.proves_less(2, n), true);  // k's range came along
  facts.assume_equal(r, n * 2);
  EXPECT_TRUE(facts.simplify(r / 2).same_as(n));
  facts.assume_equal(n, 5);
  EXPECT_TRUE(facts.simplify(r).same_as(10));
  EXPECT_TRUE(facts.simplify(k).same_as(5));
}

TEST(Facts, equalities_of_products_and_inequalities_count) {
  const Dim a = dim("a"), b = dim("b"), c = dim("c"), d = dim("d");
  Facts facts;
  facts.assume_equal(a * b, c * d);
  EXPECT_EQ(facts.proves_equal(a * b * 4, 4 * c * d), true);
  EXPECT_EQ(facts.proves_equal(a, c), std::nullopt);
  facts.assume({Relation::Less, a, b});
  EXPECT_EQ(facts.proves_less_equal(a, b), true);
  EXPECT_EQ(facts.proves_equal(a, b), false);
  facts.assume({Relation::NotEqual, c, d});
  EXPECT_EQ(facts.proves_equal(d, c), false);
  facts.assume({Relation::Broadcastable, b, d});
  EXPECT_EQ(facts.proves(Relation::Broadcastable, d, b), true);
}

struct FirstCallIsThree : DimJudge {
  bool decide(Relation relation, const Dim& a, const Dim& b) override {
    asked.push_back(to_string(SizeCheck{relation, a, b}));
    return true;
  }
  int64_t specialize(const Dim& dim) override {
    asked.push_back("specialize " + to_string(dim));
    return 3;
  }
  std::vector<std::string> asked;
};

// A trace that answers questions about sizes alone.
class InTrace {
 public:
  explicit InTrace(const OpenTrace& trace) {
    execution_.trace = &trace;
    this_thread.execution = &execution_;
  }
  ~InTrace() { this_thread.execution = nullptr; }
  InTrace(const InTrace&) = delete;
  InTrace& operator=(const InTrace&) = delete;

 private:
  Execution execution_;
};

TEST(Judge, is_asked_only_for_what_is_not_proved) {
  const Dim n = dim("n"), m = dim("m");
  FirstCallIsThree judge;
  {
    const OpenTrace trace{.sizes = &judge};
    const InTrace scope(trace);
    EXPECT_TRUE(n == n);
    EXPECT_FALSE(n == n + 1);
    EXPECT_TRUE(n < n + 1);
    EXPECT_TRUE(judge.asked.empty());
    EXPECT_TRUE(n == m);
    EXPECT_TRUE(n < m);
    EXPECT_TRUE((Shape{n, 2} == Shape{m, 2}));
    EXPECT_EQ(n.specialize(), 3);
    EXPECT_EQ(Dim(8).specialize(), 8);
  }
  EXPECT_EQ(judge.asked, (std::vector<std::string>{"n == m", "n < m", "n == m", "specialize n"}));
  EXPECT_EQ(current_judge(), nullptr);
}

TEST(Judge, a_size_outside_its_trace_is_a_named_error) {
  const Dim rows = dim("rows");
  for (const auto& use : {std::function<void()>([&] { (void)(rows == 3); }), std::function<void()>([&] { (void)(rows < 3); }),
                          std::function<void()>([&] { (void)rows.specialize(); }), std::function<void()>([&] { (void)rows.value(); })}) {
    try {
      use();
      FAIL();
    } catch (const TraceError& error) {
      EXPECT_NE(std::string(error.what()).find("rows"), std::string::npos) << error.what();
    }
  }
}

TEST(Substitute, replaces_inside_every_operation) {
  const Dim n = dim("n"), m = dim("m");
  const Dim all = n * m + n / 3 + min(n, m) + bcast(n, m) + n % m;
  EXPECT_TRUE(substitute(all, {{as_symbol(n)->id, 6}, {as_symbol(m)->id, 6}}).same_as(36 + 2 + 6 + 6 + 0));
  EXPECT_TRUE(substitute(Shape{n, n + m}, {{as_symbol(n)->id, m}}).same_as(Shape{m, 2 * m}));
}

}  // namespace
}  // namespace anyshape
