// What a Reduce does, one element at a time: for loops that combine in an order of their own.
#pragma once
#include "loop/build.h"

namespace anyshape::loop {

Value identity(Builder& b, Combine combine, Dtype type);    // what a Reduce starts at: at least one contribution follows
Value of_nothing(Builder& b, Combine combine, Dtype type);  // what a Reduce gives that has no contribution
Value combined(Builder& b, Combine combine, Value so_far, Value next);

// Over [begin, end), one after the other in one accumulator of `type`; inside Vector loops, too.
using Contribution = std::function<Value(Value index)>;
Value reduce_in_order(Builder& b, Value begin, Value end, Combine combine, Dtype type, const Contribution& contribution);

// Several results at once; the first form goes on from what there is.
using Contributions = std::function<std::vector<Value>(Value index)>;
std::vector<Value> combine_in_order(Builder& b, Value begin, Value end, std::span<const Combine> combine, std::span<const Value> so_far,
                                    const Contributions& contributions);
std::vector<Value> reduce_in_order(Builder& b, Value begin, Value end, std::span<const Combine> combine, std::span<const Dtype> types,
                                   const Contributions& contributions);

// Over [begin, end) in parts: see loop/parts.h.
Value reduce_in_parts(Builder& b, Value begin, Value end, Combine combine, Dtype type, const Contribution& contribution);
std::vector<Value> reduce_in_parts(Builder& b, Value begin, Value end, std::span<const Combine> combine, std::span<const Dtype> types,
                                   const Contributions& contributions);

}  // namespace anyshape::loop
