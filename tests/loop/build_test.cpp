// The builder: what it folds, shares and moves, and what it refuses at once.
#include "loop/build.h"

#include <anyshape/error.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loop/text.h"

namespace anyshape::loop {
namespace {

int count(const Block& block, Op op) {
  int total = 0;
  for (const Instruction& instruction : block) {
    total += instruction.op == op ? 1 : 0;
    total += count(instruction.body, op) + count(instruction.otherwise, op);
  }
  return total;
}

TEST(Builder, folds_integer_identities) {
  Builder b("fold");
  const Value n = b.size("n");
  const Value zero = b.integer(0);
  const Value one = b.integer(1);
  EXPECT_EQ(b.add(n, zero), n);
  EXPECT_EQ(b.add(zero, n), n);
  EXPECT_EQ(b.subtract(n, zero), n);
  EXPECT_EQ(b.multiply(one, n), n);
  EXPECT_EQ(b.multiply(n, zero), zero);
  EXPECT_EQ(b.multiply(zero, n), zero);
  EXPECT_EQ(b.floor_divide(n, one), n);
  EXPECT_EQ(b.floor_divide(n, zero), zero) << "division by zero gives 0";
  EXPECT_EQ(b.binary(Op::Modulo, n, one), zero);
  EXPECT_EQ(b.subtract(n, n), zero);
  EXPECT_EQ(b.add(b.add(n, b.integer(2)), b.integer(3)), b.add(n, b.integer(5)));
  EXPECT_EQ(b.add(b.add(n, b.integer(2)), b.integer(-2)), n);
  EXPECT_EQ(b.select(b.less(zero, one), n, zero), n);
  EXPECT_EQ(b.ceil_divide(b.integer(17), 16), b.integer(2));
  EXPECT_EQ(b.cast(n, Dtype::i64), n);
}

TEST(Builder, folds_float_identities_only_where_they_are_exact) {
  Builder b("fold");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In);
  const Value v = b.load(x, b.integer(0));
  const auto number = [&](double value) { return b.constant(Dtype::f32, value); };
  EXPECT_EQ(b.multiply(v, number(1)), v);
  EXPECT_EQ(b.multiply(number(1), v), v);
  EXPECT_EQ(b.divide(v, number(1)), v);
  EXPECT_EQ(b.subtract(v, number(0)), v);
  EXPECT_EQ(b.add(v, number(-0.0)), v);
  EXPECT_NE(b.add(v, number(0)), v) << "-0 + 0 is 0";
  EXPECT_NE(b.subtract(v, number(-0.0)), v);
  EXPECT_NE(b.multiply(v, number(0)), number(0)) << "NaN * 0 is NaN";
  EXPECT_NE(b.subtract(v, v), number(0)) << "infinity - infinity is NaN";
}

TEST(Builder, folds_constants_as_the_machine_computes_them) {
  Builder b("fold");
  const auto number = [&](double value) { return b.constant(Dtype::f32, value); };
  EXPECT_EQ(b.add(number(0.1), number(0.2)), number(0.1F + 0.2F));
  EXPECT_EQ(b.divide(number(1), number(0)), number(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(b.multiply(number(1e-30), number(1e-10)), number(0)) << "a denormal result is flushed";
  EXPECT_EQ(b.fma(number(3), number(5), number(7)), number(22));
  EXPECT_EQ(b.cast(number(-2.7), Dtype::i32), b.constant(Dtype::i32, int64_t{-2}));
  EXPECT_EQ(b.bitcast(number(1), Dtype::i32), b.constant(Dtype::i32, int64_t{0x3f800000}));
  EXPECT_EQ(b.less(number(1), number(2)), b.constant(Dtype::b8, int64_t{1}));
  EXPECT_EQ(b.subtract(number(NAN), number(1)), number(NAN));
}

TEST(Builder, shares_equal_instructions_and_loads_of_inputs) {
  Builder b("share");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In);
  const int32_t y = b.buffer("y", Dtype::f32, Access::InOut);
  b.vector_for(b.integer(0), b.size("n"), [&](Value i) {
    EXPECT_EQ(b.load(x, i), b.load(x, i));
    EXPECT_EQ(b.add(i, b.integer(1)), b.add(b.integer(1), i));
    EXPECT_NE(b.load(y, i), b.load(y, i)) << "y may have been written in between";
    b.store(y, i, b.multiply(b.load(x, i), b.load(x, i)));
  });
  const Kernel kernel = b.finish();
  EXPECT_EQ(count(kernel.body, Op::Load), 1) << print(kernel);
}

TEST(Builder, does_not_share_between_siblings) {
  Builder b("siblings");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In);
  const int32_t y = b.buffer("y", Dtype::f32, Access::Out);
  for (int twice = 0; twice < 2; ++twice) {
    b.if_(b.less(b.integer(0), b.size("n")), [&] { b.store(y, b.integer(0), b.load(x, b.integer(0))); });
  }
  EXPECT_EQ(count(b.finish().body, Op::Load), 2);
}

TEST(Builder, moves_what_a_loop_does_not_change_out_of_it_but_never_a_load) {
  Builder b("hoist");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In);
  const int32_t y = b.buffer("y", Dtype::f32, Access::Out);
  const Value n = b.size("n");
  b.parallel_for(b.integer(0), n, b.integer(1), [&](Value r) {
    b.vector_for(b.integer(0), n, [&](Value c) { b.store(y, b.add(b.multiply(r, n), c), b.load(x, b.multiply(n, b.integer(2)))); });
  });
  const Kernel kernel = b.finish();
  EXPECT_EQ(print(kernel),
            "kernel hoist(n) {\n"
            "  in x: f32\n"
            "  out y: f32\n"
            "  v0 = n * 2\n"
            "  parallel i1 in 0 .. n grain 1 {\n"
            "    v2 = i1 * n\n"
            "    vector i3 in 0 .. n {\n"
            "      y[v2 + i3] = x[v0]\n"
            "    }\n"
            "  }\n"
            "}\n");
}

TEST(Builder, drops_values_that_nothing_uses_and_numbers_the_rest_densely) {
  Builder b("dead");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In);
  const int32_t y = b.buffer("y", Dtype::f32, Access::Out);
  const Value v = b.load(x, b.integer(0));
  b.unary(Op::SquareRoot, b.add(v, b.constant(Dtype::f32, 2.0)));
  b.store(y, b.integer(0), v);
  const Kernel kernel = b.finish();
  EXPECT_EQ(kernel.types.size(), 2U);
  EXPECT_EQ(kernel.body.size(), 3U);
}

TEST(Builder, keeps_a_constant_in_the_block_that_uses_it) {
  Builder b("constants");
  const int32_t y = b.buffer("y", Dtype::i64, Access::Out);
  b.store(y, b.integer(0), b.integer(5));
  b.parallel_for(b.integer(0), b.size("n"), b.integer(1), [&](Value i) { b.store(y, i, b.integer(5)); });
  const Kernel kernel = b.finish();
  EXPECT_EQ(count(kernel.body.back().body, Op::Constant), 1);
}

TEST(Builder, names_of_buffers_stay_different_and_dims_are_one_by_name) {
  Builder b("names");
  b.buffer("x", Dtype::f32, Access::In);
  b.buffer("x", Dtype::f32, Access::In);
  EXPECT_EQ(b.size("n"), b.size("n"));
  EXPECT_NE(b.size("n"), b.size("m"));
  const Kernel kernel = b.finish();
  EXPECT_EQ(kernel.buffers[1].name, "x_1");
  EXPECT_EQ(kernel.dims, (std::vector<std::string>{"n", "m"}));
}

TEST(Builder, refuses_wrong_types_at_once) {
  Builder b("wrong");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In);
  const int32_t y = b.buffer("y", Dtype::f32, Access::Out);
  const Value n = b.size("n");
  const Value v = b.load(x, n);
  EXPECT_THROW(b.add(n, v), InternalError);
  EXPECT_THROW(b.divide(n, n), InternalError);
  EXPECT_THROW(b.unary(Op::Not, v), InternalError);
  EXPECT_THROW(b.bitcast(v, Dtype::i64), InternalError);
  EXPECT_THROW(b.select(n, v, v), InternalError);
  EXPECT_THROW(b.load(x, v), InternalError);
  EXPECT_THROW(b.load(7, n), InternalError);
  EXPECT_THROW(b.store(x, n, v), InternalError) << "x is In";
  EXPECT_THROW(b.store(y, n, n), InternalError);
  EXPECT_THROW(b.constant(Dtype::i32, 1.5), InternalError);
  EXPECT_THROW(b.if_(n, [] {}), InternalError);
  EXPECT_THROW(b.type(Value{}), InternalError);
  EXPECT_THROW(b.unary(Op::Negate, b.less(n, n)), InternalError);
}

}  // namespace
}  // namespace anyshape::loop
