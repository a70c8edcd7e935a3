// Searching the best of a row.
#include "ops/reduce/best.h"

#include <limits>

namespace anyshape {

// The extreme in lanes, then the least index of what equals it. A NaN makes the extreme NaN, and is found by being unequal to itself.
Best best_of(loop::Builder& b, loop::Combine combine, loop::Value begin, loop::Value end, const ValueAt& value, const ValueAt& index) {
  const loop::Value extreme = b.reduce(begin, end, combine, value);
  const loop::Value first = b.reduce(begin, end, loop::Combine::Minimum, [&](loop::Value i) {
    const loop::Value x = value(i);
    const loop::Value chosen = b.binary(loop::Op::Or, b.equal(x, extreme), b.binary(loop::Op::NotEqual, x, x));
    return b.select(chosen, index(i), b.integer(std::numeric_limits<int64_t>::max()));
  });
  return {extreme, first};
}

loop::Value best_in_order(loop::Builder& b, loop::Combine combine, loop::Value begin, loop::Value end, const ValueAt& value) {
  const loop::Value initial[] = {value(begin), b.constant(Dtype::i32, int64_t{0})};
  const auto compare = [&](loop::Value i, std::span<const loop::Value> best) -> std::vector<loop::Value> {
    const loop::Value next = value(i);
    const loop::Value is_better = combine == loop::Combine::Maximum ? b.less(best[0], next) : b.less(next, best[0]);
    const loop::Value first_nan = b.binary(loop::Op::And, b.binary(loop::Op::NotEqual, next, next), b.equal(best[0], best[0]));
    const loop::Value taken = b.binary(loop::Op::Or, is_better, first_nan);
    return {b.select(taken, next, best[0]), b.select(taken, b.cast(b.subtract(i, begin), Dtype::i32), best[1])};
  };
  return b.carry_for(b.add(begin, b.integer(1)), end, initial, compare)[1];
}

}  // namespace anyshape
