// Walking along rows.
#include "ops/reduce/walk.h"

namespace anyshape {

// The result before stays in a register.
void walk_row(LowerCall& call, const Walk& walk, loop::Value begin, loop::Value end) {
  loop::Builder& b = call.b;
  const int32_t y = call.output(0);
  const loop::Value one = b.integer(1);
  b.if_(b.less(begin, end), [&] {
    const loop::Value last = b.subtract(end, one), start = walk.reverse ? last : begin;
    const loop::Value initial[] = {walk.first(start)};
    b.store(y, start, initial[0]);
    b.carry_for(one, b.subtract(end, begin), initial, [&](loop::Value i, std::span<const loop::Value> carried) -> std::vector<loop::Value> {
      const loop::Value here = walk.reverse ? b.subtract(last, i) : b.add(begin, i);
      const loop::Value result = walk.next(carried[0], walk.reverse ? b.add(here, one) : b.subtract(here, one), here);
      b.store(y, here, result);
      return {result};
    });
  });
}

// Each line reads the results of the one before, which the cache still holds.
void walk_columns(LowerCall& call, const Walk& walk, const Lines& lines) {
  loop::Builder& b = call.b;
  const int32_t y = call.output(0);
  const loop::Value one = b.integer(1);
  const auto offset = [&](loop::Value number) {
    const loop::Value line = walk.reverse ? b.subtract(b.subtract(lines.end, one), number) : b.add(lines.begin, number);
    return b.multiply(line, lines.width);
  };
  b.if_(b.less(lines.begin, lines.end), [&] {
    b.elements(lines.first, lines.last, [&](loop::Value column) {
      const loop::Value here = b.add(offset(b.integer(0)), column);
      b.store(y, here, walk.first(here));
    });
    b.serial_for(one, b.subtract(lines.end, lines.begin), [&](loop::Value number) {
      b.elements(lines.first, lines.last, [&](loop::Value column) {
        const loop::Value before = b.add(offset(b.subtract(number, one)), column), here = b.add(offset(number), column);
        b.store(y, here, walk.next(b.load(y, before), before, here));
      });
    });
  });
}

Walk recurrence_walk(LowerCall& call, bool reverse) {
  loop::Builder& builder = call.b;
  const Dtype type = call.outputs[0].dtype;
  const int32_t a = call.input(0), b = call.input(1);
  return {reverse, [&builder, type](loop::Value) { return builder.constant(type, int64_t{0}); },
          [&builder, type, a, b](loop::Value previous, loop::Value before, loop::Value) {
            const loop::Value factor = builder.load(a, before), term = builder.load(b, before);
            return is_floating(type) ? builder.fma(factor, previous, term) : builder.add(builder.multiply(factor, previous), term);
          }};
}

Walk cumulate_walk(LowerCall& call, loop::Op combine, bool reverse, bool exclusive) {
  loop::Builder& b = call.b;
  const int32_t x = call.input(0);
  const loop::Value of_nothing = b.constant(call.outputs[0].dtype, combine == loop::Op::Add ? int64_t{0} : int64_t{1});
  return {reverse, [&b, x, exclusive, of_nothing](loop::Value here) { return exclusive ? of_nothing : b.load(x, here); },
          [&b, x, exclusive, combine](loop::Value previous, loop::Value before, loop::Value here) {
            return b.binary(combine, previous, b.load(x, exclusive ? before : here));
          }};
}

}  // namespace anyshape
