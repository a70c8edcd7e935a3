// Combining values outside of Reduce.
#include "loop/combine.h"

#include <anyshape/error.h>

#include "loop/parts.h"
#include "loop/scalar.h"

namespace anyshape::loop {

static Value constant_value(Builder& b, Dtype type, Scalar value) {
  const Instruction constant = constant_of(type, value);
  return is_floating(type) ? b.constant(type, constant.number) : b.constant(type, constant.integer);
}

Value identity(Builder& b, Combine combine, Dtype type) { return constant_value(b, type, identity(combine, type)); }
Value of_nothing(Builder& b, Combine combine, Dtype type) { return constant_value(b, type, of_nothing(combine, type)); }

Value combined(Builder& b, Combine combine, Value so_far, Value next) {
  switch (combine) {
    case Combine::Sum:
    case Combine::SumTo: return b.add(so_far, next);
    case Combine::Product: return b.multiply(so_far, next);
    case Combine::Maximum: return b.maximum(so_far, next);
    case Combine::Minimum: return b.minimum(so_far, next);
    case Combine::All: return b.binary(Op::And, so_far, next);
    case Combine::Any: return b.binary(Op::Or, so_far, next);
  }
  throw InternalError("loop: unknown combine");
}

std::vector<Value> combine_in_order(Builder& b, Value begin, Value end, std::span<const Combine> combine, std::span<const Value> so_far,
                                    const Contributions& contributions) {
  return b.carry_for(begin, end, so_far, [&](Value index, std::span<const Value> carried) {
    std::vector<Value> next = contributions(index);
    for (size_t i = 0; i < next.size(); ++i) next[i] = combined(b, combine[i], carried[i], next[i]);
    return next;
  });
}

std::vector<Value> reduce_in_order(Builder& b, Value begin, Value end, std::span<const Combine> combine, std::span<const Dtype> types,
                                   const Contributions& contributions) {
  std::vector<Value> initial;
  for (size_t i = 0; i < combine.size(); ++i) {
    const Value start = identity(b, combine[i], types[i]), nothing = of_nothing(b, combine[i], types[i]);
    initial.push_back(start == nothing ? start : b.select(b.less(begin, end), start, nothing));
  }
  return combine_in_order(b, begin, end, combine, initial, contributions);
}

Value reduce_in_order(Builder& b, Value begin, Value end, Combine combine, Dtype type, const Contribution& contribution) {
  const Combine combines[] = {combine};
  const Dtype types[] = {type};
  return reduce_in_order(b, begin, end, combines, types, [&](Value index) { return std::vector<Value>{contribution(index)}; })[0];
}

std::vector<Value> reduce_in_parts(Builder& b, Value begin, Value end, std::span<const Combine> combine, std::span<const Dtype> types,
                                   const Contributions& contributions) {
  const Value parts = b.ceil_divide(b.subtract(end, begin), part_elements), length = b.integer(part_elements);
  return reduce_in_order(b, b.integer(0), parts, combine, types, [&](Value number) {
    const Value first = b.add(begin, b.multiply(number, length));
    return b.reduce(first, b.minimum(b.add(first, length), end), combine, contributions);
  });
}

Value reduce_in_parts(Builder& b, Value begin, Value end, Combine combine, Dtype type, const Contribution& contribution) {
  const Combine combines[] = {combine};
  const Dtype types[] = {type};
  return reduce_in_parts(b, begin, end, combines, types, [&](Value index) { return std::vector<Value>{contribution(index)}; })[0];
}

}  // namespace anyshape::loop
