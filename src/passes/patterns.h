// What rules ask about values.
#pragma once
#include "graph/graph.h"
#include "ops/source/constant.h"
#include "passes/rewrite.h"

#include <optional>

namespace anyshape::passes {

inline bool is_made_by(const graph::Value* value, const OpDef& op) { return value->node != nullptr && value->node->op == &op; }

// The scalar that every element of a value equals, where ops on shapes show it; null: there is none. A value of rank 0 is its own.
graph::Value* scalar_of(graph::Value* value);
// The literal that every element equals; null: there is none, or it is not known before running.
const ConstantAttrs* literal_of(graph::Value* value);
bool is_number(graph::Value* value, double number);  // of either kind of dtype; 0 and -0 are two numbers

// Whether x + 0 is x for every element: only -0 would change, and become 0. A sum that underflows counts as 0.
bool is_never_negative_zero(const graph::Value* value);

// Of relu(x) = where(x <= 0, 0, x) the node that makes x <= 0, in the result's shape; null of any other.
const graph::Node* mask_of_relu(const graph::Node& node);

// The value under a shape that it is broadcast to; itself where it has that shape.
graph::Value* repeated_to(Rewriting& at, graph::Value* value, const TensorSpec& spec);
graph::Value* literal(Rewriting& at, Dtype dtype, double number);
// x + 0, which every element is that was added to a 0: x itself where none can be -0.
graph::Value* plus_zero(Rewriting& at, graph::Value* x);
// The elements in row-major order under another shape; itself where it has that shape.
graph::Value* reshaped(Rewriting& at, graph::Value* value, const Shape& shape);

}  // namespace anyshape::passes
