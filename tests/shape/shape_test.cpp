// Shapes, broadcasting and checks on sizes.
#include <anyshape/error.h>
#include <anyshape/shape.h>
#include <gtest/gtest.h>

#include "shape/broadcast.h"
#include "shape/dim_program.h"
#include "shape/evaluate.h"
#include "shape/size_check.h"

namespace anyshape {
namespace {

TEST(Shape, indexes_from_both_ends_and_refuses_the_rest) {
  Shape shape{2, 3, 4};
  EXPECT_EQ(shape[0].value(), 2);
  EXPECT_EQ(shape[-1].value(), 4);
  EXPECT_THROW(shape[3], ShapeError);
  EXPECT_THROW(shape[-4], ShapeError);
  EXPECT_THROW(Shape{}[0], ShapeError);
  shape[1] = 7;
  EXPECT_EQ(to_string(shape), "[2, 7, 4]");
}

TEST(Shape, counts_its_elements_without_overflow) {
  const Dim n = dim("n");
  const int64_t large = int64_t{1} << 40;
  EXPECT_EQ(Shape{}.count().value(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).count().value(), 24);
  EXPECT_EQ((Shape{large, large, 0}).count().value(), 0);
  EXPECT_TRUE((Shape{n, 3}).count().same_as(3 * n));
  EXPECT_THROW((Shape{large, large}).count(), ShapeError);
}

TEST(Shape, copies_and_moves_keep_the_sizes_of_any_rank) {
  const Dim n = dim("n");
  Shape grown;
  std::string text;
  for (int64_t rank = 1; rank <= max_rank; ++rank) {
    grown.push_back(rank == 3 ? n : Dim(rank));
    text += (rank > 1 ? ", " : "") + (rank == 3 ? "n" : std::to_string(rank));
    const std::string expected = "[" + text + "]";
    const Shape copy = grown;
    EXPECT_EQ(to_string(copy), expected);
    EXPECT_EQ(to_string(Shape(std::span(grown.begin(), grown.end()))), expected);
    Shape first = grown;
    Shape moved = std::move(first);
    EXPECT_EQ(to_string(moved), expected);
    Shape others{9, 9, 9, 9, 9, 9};
    others = moved;
    EXPECT_EQ(to_string(others), expected);
    others[-1] = 7;
    EXPECT_EQ(to_string(moved), expected) << "a copy has sizes of its own";
    Shape few{1};
    few = std::move(moved);
    EXPECT_EQ(to_string(few), expected);
    few = static_cast<const Shape&>(few);
    EXPECT_EQ(to_string(few), expected);
  }
}

TEST(Shape, holds_at_most_eight_sizes) {
  Shape shape{1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_THROW(shape.push_back(9), ShapeError);
  EXPECT_EQ(shape.rank(), 8);
  const std::vector<int64_t> nine(9, 1);
  EXPECT_THROW(Shape(std::span<const int64_t>(nine)), ShapeError);
  EXPECT_THROW((Shape{1, 2, 3, 4, 5, 6, 7, 8, 9}), ShapeError);
}

TEST(Shape, compares_by_rank_and_sizes) {
  EXPECT_TRUE((Shape{2, 3} == Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3} == Shape{2, 3, 1}));
  EXPECT_FALSE((Shape{2, 3} == Shape{3, 2}));
  EXPECT_TRUE((Shape{dim("n"), 3}).is_constant() == false);
}

TEST(Broadcast, constant_shapes_follow_the_rule) {
  EXPECT_EQ(to_string(broadcast(Shape{4, 1, 3}, Shape{5, 1})->shape), "[4, 5, 3]");
  EXPECT_EQ(to_string(broadcast(Shape{0}, Shape{1})->shape), "[0]");
  EXPECT_EQ(to_string(broadcast(Shape{}, Shape{2, 3})->shape), "[2, 3]");
  EXPECT_TRUE(broadcast(Shape{4, 1, 3}, Shape{5, 1})->checks.empty());
  EXPECT_FALSE(broadcast(Shape{2}, Shape{3}).has_value());
  EXPECT_FALSE(broadcast(Shape{0}, Shape{2}).has_value());
}

TEST(Broadcast, unknown_sizes_stay_unknown_and_bring_their_check) {
  const Dim n = dim("n"), m = dim("m"), large = dim("large", {.min = 2}), huge = dim("huge", {.min = 2});
  const auto unknown = broadcast(Shape{n, 3}, Shape{m, 1});
  EXPECT_EQ(to_string(unknown->shape), "[bcast(n, m), 3]");
  ASSERT_EQ(unknown->checks.size(), 1u);
  EXPECT_EQ(to_string(unknown->checks[0]), "n broadcasts with m");
  const auto constant = broadcast(Shape{n}, Shape{5});
  EXPECT_EQ(to_string(constant->shape), "[5]");
  EXPECT_EQ(to_string(constant->checks[0]), "n broadcasts with 5");
  const auto both = broadcast(Shape{large}, Shape{huge});
  EXPECT_EQ(to_string(both->checks[0]), "large == huge");
  EXPECT_TRUE(broadcast(Shape{n}, Shape{n})->checks.empty());
  EXPECT_TRUE(broadcast(Shape{n}, Shape{1})->checks.empty());
  EXPECT_FALSE(broadcast(Shape{large}, Shape{large + 1}).has_value());
  EXPECT_TRUE(broadcast(Shape{n}, Shape{n + 1}).has_value());  // n = 0 and n = 1 are right
}

TEST(Broadcast, facts_spare_checks_and_several_shapes_join) {
  const Dim n = dim("n"), m = dim("m");
  Facts facts;
  facts.assume_equal(n, m);
  const auto known = broadcast(Shape{n}, Shape{m}, &facts);
  EXPECT_TRUE(known->checks.empty());
  EXPECT_TRUE(known->shape.same_as(Shape{n}));
  const Shape shapes[] = {Shape{n, 1}, Shape{4}, Shape{m, 1}};
  EXPECT_EQ(to_string(broadcast(shapes)->shape), "[bcast(n, m), 4]");
}

TEST(SizeCheck, holds_for_the_values_it_names) {
  const Dim n = dim("n"), m = dim("m");
  Bindings values;
  values.set(n, 1);
  values.set(m, 4);
  EXPECT_TRUE((SizeCheck{Relation::Broadcastable, n, m}).holds(values));
  EXPECT_TRUE((SizeCheck{Relation::Equal, n + 3, m}).holds(values));
  EXPECT_FALSE((SizeCheck{Relation::Less, m, n}).holds(values));
  EXPECT_TRUE((SizeCheck{Relation::LessEqual, n, m}).holds(values));
  EXPECT_FALSE((SizeCheck{Relation::Broadcastable, n + 1, m}).holds(values));
  EXPECT_EQ(to_string(SizeCheck{Relation::LessEqual, n, m + 1}), "n <= m + 1");
}

TEST(DimProgram, symbols_come_first_and_equal_sizes_share_a_slot) {
  const Dim n = dim("n"), m = dim("m");
  DimProgram program(std::vector<Dim>{n, m});
  EXPECT_EQ(program.add(n), 0);
  EXPECT_EQ(program.add(m), 1);
  const int area = program.add(n * m), constant = program.add(7), same = program.add(m * n);
  EXPECT_EQ(area, same);
  EXPECT_EQ(program.slot_count(), 4);
  const int64_t values[] = {3, 5};
  int64_t out[4] = {};
  program.run(values, out);
  EXPECT_EQ(out[area], 15);
  EXPECT_EQ(out[constant], 7);
  EXPECT_THROW(program.add(dim("stranger")), TraceError);
}

TEST(DimProgram, sizes_that_depend_on_data_wait_for_their_stage) {
  const Dim n = make_symbol("n"), first = make_data_symbol("first"), second = make_data_symbol("second");
  DimProgram program(std::vector<Dim>{n}, std::vector<Dim>{first, second});
  const int early = program.add(n * 2), late = program.add(n + first), last = program.add(min(first, second) + n);
  EXPECT_EQ(program.stage_of(early), 0);
  EXPECT_EQ(program.stage_of(late), 1);
  EXPECT_EQ(program.stage_of(last), 2);
  std::vector<int64_t> table(program.slot_count(), -1);
  const int64_t values[] = {10};
  program.run(values, table.data());
  EXPECT_EQ(table[early], 20);
  EXPECT_EQ(table[late], -1);
  program.resume(1, 4, table.data());
  EXPECT_EQ(table[late], 14);
  EXPECT_EQ(table[last], -1);
  program.resume(2, 3, table.data());
  EXPECT_EQ(table[last], 13);
  program.resume(2, 7, table.data());  // another turn of a loop
  EXPECT_EQ(table[last], 14);
}

TEST(Facts, an_equality_that_depends_on_data_replaces_its_newest_symbol_only) {
  const Dim n = make_symbol("n"), found = make_data_symbol("found");
  EXPECT_TRUE(depends_on_data(n + found));
  EXPECT_FALSE(depends_on_data(n * 2));
  Facts facts;
  facts.assume_equal(n, found * 2);  // n is known before `found` is: it must not be written in terms of it
  EXPECT_TRUE(facts.simplify(n).same_as(n));
  facts.assume_equal(found, n + 1);
  EXPECT_TRUE(facts.simplify(found * 3).same_as(n * 3 + 3));
}

TEST(DimProgram, names_the_size_that_overflows_or_divides_by_zero) {
  const Dim rows = dim("rows"), cols = dim("cols");
  DimProgram program(std::vector<Dim>{rows, cols});
  program.add(rows * cols);
  program.add(rows / cols);
  std::vector<int64_t> out(static_cast<size_t>(program.slot_count()));
  const auto text = [&](int64_t a, int64_t b) -> std::string {
    try {
      const int64_t values[] = {a, b};
      program.run(values, out.data());
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(text(int64_t{1} << 40, int64_t{1} << 40),
            "size \"rows * cols\" overflows: rows = 1099511627776, cols = 1099511627776; expected a result that fits 64 bits.");
  EXPECT_EQ(text(4, 0), "size \"rows / cols\" divides by zero: rows = 4, cols = 0; expected a divisor other than 0.");
  EXPECT_EQ(text(4, 3), "");
}

}  // namespace
}  // namespace anyshape
