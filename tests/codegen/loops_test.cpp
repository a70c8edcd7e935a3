// Loops in loops: serial loops with carried values outside and inside of vector loops, branches, reductions of every kind, parallel bodies.
#include "codegen/run_both.h"
#include "runtime/cpu/externs.h"

namespace anyshape::codegen {
namespace {

using loop::Access;
using loop::Builder;
using loop::Combine;
using loop::Op;
using loop::Value;

TEST(Loops, serial_loops_carry_values_both_ways) {
  for (const bool reverse : {false, true}) {
    Builder b("carry");
    const int32_t x = b.buffer("x", Dtype::f32, Access::In), y = b.buffer("y", Dtype::f32, Access::Out),
                  z = b.buffer("z", Dtype::i64, Access::Out);
    const Value initial[] = {b.constant(Dtype::f32, 0.5), b.integer(1)};
    const auto results = b.carry_for(
        b.integer(1), b.size("n"), initial,
        [&](Value i, std::span<const Value> carried) {
          b.store(y, i, carried[0]);
          return std::vector<Value>{b.add(b.multiply(carried[0], b.constant(Dtype::f32, 0.9)), b.load(x, i)),
                                    b.add(b.multiply(carried[1], b.integer(3)), i)};
        },
        reverse);
    b.store(y, b.integer(0), results[0]);
    b.store(z, b.integer(0), results[1]);
    const Compiled compiled(b.finish());
    for (const int64_t n : {0, 1, 2, 3, 17}) {
      compiled.run_both({random_memory(Dtype::f32, n + 1, 1), random_memory(Dtype::f32, n + 1, 2), random_memory(Dtype::i64, 1, 3)}, {n});
    }
  }
}

// Columns of a matrix summed downwards in vector lanes, with a carried uniform offset and a branch on the row.
TEST(Loops, serial_loops_in_vector_loops_carry_vectors) {
  Builder b("column_sums");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In), y = b.buffer("y", Dtype::f32, Access::Out),
                z = b.buffer("z", Dtype::f32, Access::Out);
  const Value rows = b.size("rows"), columns = b.size("columns");
  b.vector_for(b.integer(0), columns, [&](Value j) {
    const Value initial[] = {b.constant(Dtype::f32, 0.0), b.integer(0), j};
    const auto sums = b.carry_for(b.integer(0), rows, initial, [&](Value i, std::span<const Value> carried) {
      const Value element = b.load(x, b.add(b.multiply(i, columns), j));
      b.if_(
          b.less(i, b.integer(2)), [&] { b.store(z, b.add(b.multiply(i, columns), j), element); },
          [&] { b.store(z, b.add(b.multiply(i, columns), j), b.unary(Op::Negate, element)); });
      return std::vector<Value>{b.add(carried[0], element), b.add(carried[1], columns), b.add(carried[2], b.integer(1))};
    });
    b.store(y, j, b.add(sums[0], b.cast(b.add(sums[1], sums[2]), Dtype::f32)));
  });
  const Compiled compiled(b.finish());
  for (const int64_t columns_count : {0, 1, 15, 16, 17, 33, 64, 65, 130}) {
    for (const int64_t rows_count : {0, 1, 3}) {
      const int64_t count = rows_count * columns_count;
      compiled.run_both(
          {random_memory(Dtype::f32, count, 1), random_memory(Dtype::f32, columns_count, 2), random_memory(Dtype::f32, count, 3)},
          {rows_count, columns_count});
    }
  }
}

TEST(Loops, branches_run_one_side) {
  Builder b("branches");
  const int32_t y = b.buffer("y", Dtype::i32, Access::Out);
  b.serial_for(b.integer(0), b.size("n"), [&](Value i) {
    b.if_(
        b.equal(b.binary(Op::Modulo, i, b.integer(3)), b.integer(0)), [&] { b.store(y, i, b.cast(i, Dtype::i32)); },
        [&] { b.if_(b.less(i, b.integer(5)), [&] { b.store(y, i, b.constant(Dtype::i32, int64_t{-1})); }); });
  });
  Compiled(b.finish()).run_both({random_memory(Dtype::i32, 20, 1)}, {20});
}

TEST(Reduce, every_combination_on_every_type_and_length) {
  constexpr Combine kinds[] = {Combine::Sum,     Combine::SumTo, Combine::Product, Combine::Maximum,
                               Combine::Minimum, Combine::All,   Combine::Any};
  for (const Dtype type : {Dtype::b8, Dtype::u8, Dtype::i32, Dtype::i64, Dtype::f32, Dtype::f64}) {
    for (const Combine kind : kinds) {
      if ((kind >= Combine::All) != (type == Dtype::b8)) continue;
      Builder b("reduce_" + std::string(to_string(type)) + std::to_string(static_cast<int>(kind)));
      const int32_t x = b.buffer("x", type, Access::In), y = b.buffer("y", type, Access::Out);
      b.store(y, b.integer(0), b.reduce(b.integer(2), b.add(b.size("n"), b.integer(2)), kind, [&](Value i) { return b.load(x, i); }));
      const Compiled compiled(b.finish());
      for (const auto& some : {lengths(), lengths_in_runs()}) {
        for (const int64_t n : some)
          compiled.run_both({random_memory(type, n + 2, static_cast<unsigned>(n)), random_memory(type, 1, 2)}, {n});
      }
    }
  }
}

// Products of denormal size make flushed sums of either sign of zero: lanes past the end must not touch them.
TEST(Reduce, lanes_past_the_end_leave_negative_zero_alone) {
  Builder b("negative_zero");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In), y = b.buffer("y", Dtype::f32, Access::Out);
  b.store(y, b.integer(0), b.reduce(b.integer(0), b.size("n"), Combine::Sum, [&](Value i) { return b.load(x, i); }));
  const Compiled compiled(b.finish());
  for (const int64_t n : {17, 33, 40}) {
    Memory memory(Dtype::f32, n);
    for (int64_t i = 0; i < n; ++i) memory.as<float>()[i] = (i < 16 ? 1.0F : -1.5F) * std::numeric_limits<float>::min();
    compiled.run_both({memory, Memory(Dtype::f32, 1)}, {n});
  }
}

TEST(Reduce, several_results_at_once_with_loops_inside) {
  Builder b("several");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In), y = b.buffer("y", Dtype::f32, Access::Out);
  const Combine kinds[] = {Combine::Sum, Combine::Maximum, Combine::Product};
  const Value n = b.size("n");
  const auto results = b.reduce(b.integer(0), n, kinds, [&](Value i) {
    const Value initial[] = {b.constant(Dtype::f32, 0.0)};
    const auto sum = b.carry_for(b.integer(0), b.integer(3), initial, [&](Value k, std::span<const Value> carried) {
      return std::vector<Value>{b.add(carried[0], b.load(x, b.add(b.multiply(k, n), i)))};
    });
    const Value stepped = b.load(x, b.multiply(i, b.integer(2)));
    return std::vector<Value>{sum[0], stepped, b.constant(Dtype::f32, 1.25)};
  });
  for (int64_t i = 0; i < 3; ++i) b.store(y, b.integer(i), results[static_cast<size_t>(i)]);
  const Compiled compiled(b.finish());
  for (const auto& some : {lengths(), lengths_in_runs()}) {
    for (const int64_t size : some) compiled.run_both({random_memory(Dtype::f32, 3 * size, 1), random_memory(Dtype::f32, 3, 2)}, {size});
  }
}

// As in softmax: exponentials are stored while they are summed, then scaled where they stand. Stores stop at the end.
TEST(Reduce, bodies_store) {
  for (const Dtype type : {Dtype::f32, Dtype::f64, Dtype::u8, Dtype::i32}) {
    Builder b("storing");
    const int32_t x = b.buffer("x", type, Access::In), y = b.buffer("y", type, Access::InOut), z = b.buffer("z", type, Access::Out);
    const Value n = b.size("n"), two = b.constant(type, int64_t{2});
    const Value sum = b.reduce(b.integer(0), n, Combine::Sum, [&](Value i) {
      const Value doubled = b.multiply(b.load(x, i), two);
      b.store(y, i, doubled);
      return b.add(b.load(y, i), two);
    });
    b.vector_for(b.integer(0), n, [&](Value i) { b.store(y, i, b.multiply(b.load(y, i), sum)); });
    b.store(z, b.integer(0), sum);
    const Compiled compiled(b.finish());
    for (const auto& some : {lengths(), lengths_in_runs()}) {
      for (const int64_t size : some) {
        compiled.run_both({random_memory(type, size, 1), random_memory(type, size, 2), random_memory(type, 1, 3)}, {size});
      }
    }
  }
}

// A parallel body sees scalars of every type from around it, through its frame.
loop::Kernel parallel_kernel() {
  Builder b("parallel");
  const int32_t x = b.buffer("x", Dtype::f32, Access::In), flags = b.buffer("flags", Dtype::b8, Access::In),
                y = b.buffer("y", Dtype::f32, Access::Out);
  const Value rows = b.size("rows"), columns = b.size("columns"), zero = b.integer(0);
  const Value first = b.load(x, zero), flag = b.load(flags, zero), precise = b.cast(first, Dtype::f64), small = b.cast(first, Dtype::u8);
  const Value narrow = b.cast(columns, Dtype::i32), start = b.minimum(rows, b.integer(1));
  b.parallel_for(start, rows, b.integer(2), [&](Value i) {
    const Value base = b.multiply(i, columns);
    const Value largest = b.reduce(zero, columns, Combine::Maximum, [&](Value j) { return b.load(x, b.add(base, j)); });
    b.vector_for(zero, columns, [&](Value j) {
      const Value shifted = b.subtract(b.load(x, b.add(base, j)), largest);
      const Value extra = b.add(b.cast(b.add(b.cast(small, Dtype::i32), narrow), Dtype::f32), b.cast(precise, Dtype::f32));
      b.store(y, b.add(base, j), b.select(flag, b.add(shifted, extra), b.add(first, shifted)));
    });
  });
  return b.finish();
}

TEST(Parallel, bodies_see_the_scalars_around_them) {
  const Compiled compiled(parallel_kernel());
  for (const int64_t rows : {0, 1, 2, 3, 8, 21}) {
    for (const int64_t columns : {1, 16, 33, 70}) {
      compiled.run_both({random_memory(Dtype::f32, rows * columns + 1, 1), random_memory(Dtype::b8, 1, static_cast<unsigned>(rows)),
                         random_memory(Dtype::f32, rows * columns, 2)},
                        {rows, columns});
    }
  }
}

TEST(Parallel, bodies_run_on_the_pool) {
  const Compiled compiled(parallel_kernel());
  const int64_t rows = 500, columns = 33;
  const std::vector<Memory> buffers = {random_memory(Dtype::f32, rows * columns + 1, 1), random_memory(Dtype::b8, 1, 2),
                                       Memory(Dtype::f32, rows * columns)};
  const std::vector<Memory> expected = compiled.run_both(buffers, {rows, columns});
  runtime::Pool pool(3);
  AsContext context = runtime::make_context(pool);
  std::vector<Memory> got = buffers;
  EXPECT_EQ(compiled.run(got, {rows, columns}, &context), 0);
  EXPECT_EQ(expected[2].bytes, got[2].bytes);
}

}  // namespace
}  // namespace anyshape::codegen
