// Reductions with the elementwise ops that feed them. Along a reduced innermost axis 16 lanes and a fixed tree; along an outer one, columns
// in vector lanes, each summed in order; everything to one number by parts of fixed size. How work is cut depends on sizes only, so results
// have the same bits for any number of threads.
#include "lower/axes.h"
#include "lower/lower_loops.h"
#include "shape/prove.h"

#include <anyshape/error.h>

#include <algorithm>
#include <limits>

namespace anyshape::lower {
namespace {

using graph::Node;
using loop::Value;

struct Axis {
  AxisGroup group;
  AxisFate fate;
  int output_axis;  // of the last joined axis in the output, or -1
};

int64_t lowest(Dtype dtype) {
  return dtype == Dtype::i64 ? std::numeric_limits<int64_t>::min() : int64_t{std::numeric_limits<int32_t>::min()};
}

class Reduction {
 public:
  Reduction(const Node& root, const GroupContext& context)
      : root_(root),
        context_(context),
        input_(root.inputs[0]),
        output_(root.outputs[0]),
        combine_(root.op->reduce->combine),
        kernel_(std::string(root.op->name)),
        b_(kernel_.b),
        elements_(kernel_, context.groups, context.find_buffer, context.node_number) {}

  GroupKernel run() {
    find_axes();
    check_indices(kernel_, indexed_, context_);
    target_ = kernel_.buffer(context_.find_buffer(output_), output_->spec.dtype, loop::Access::Out);
    if (axes_.empty()) {
      write(b_.integer(0), value_at({}));
    } else if (axes_.back().fate == AxisFate::Open) {
      // Two versions of the innermost axis: as it is, or summed to one element.
      const Dim& kept = output_->spec.shape[axes_.back().output_axis];
      b_.if_(
          b_.equal(kernel_.size(kept), kernel_.size(axes_.back().group.extent)), [&] { emit_as(AxisFate::Kept); },
          [&] { emit_as(AxisFate::Reduced); });
    } else {
      emit();
    }
    return {kernel_.finish(), indexed_};
  }

 private:
  void find_axes();
  void emit_as(AxisFate innermost) {
    const std::vector<Axis> axes = axes_;
    axes_.back().fate = innermost;
    emit();
    axes_ = axes;
  }
  void emit();
  void emit_everything();
  void emit_columns();
  void emit_rows();
  void walk_kept(size_t axis, const std::function<void()>& body);
  Value accumulate(size_t axis, Value inner);
  Value accumulate_part(Value begin, Value end);
  Value value_at(Value inner);
  Value combine(Value a, Value b);
  Value identity();
  void write(Value offset, Value value) { b_.store(target_, offset, value); }
  Value output_offset();
  Value repeated_extent(const Axis& axis);

  const Node& root_;
  const GroupContext& context_;
  const graph::Value* input_;
  const graph::Value* output_;
  loop::Combine combine_;
  KernelWriter kernel_;
  loop::Builder& b_;
  Elements elements_;
  std::vector<Axis> axes_;
  std::vector<const Node*> indexed_;
  int32_t target_ = -1;
  std::vector<Value> kept_;     // per joined axis: its index in the output, 0 where it is reduced
  std::vector<Value> reduced_;  // per joined axis: its index among what is combined, 0 where it is kept
};

// A dry run finds which neighbouring axes of one fate can be walked as one.
void Reduction::find_axes() {
  std::vector<TensorSpec> specs{input_->spec};
  for (size_t k = 1; k < root_.inputs.size(); ++k) specs.push_back(root_.inputs[k]->spec);
  const std::vector<AxisFate> fates = root_.op->reduce->axes(OpCall(*root_.op, specs, root_.attrs));
  const Shape& space = input_->spec.shape;
  KernelWriter kernel("dry_run");
  Elements elements(kernel, context_.groups, context_.find_buffer, context_.node_number);
  std::vector<Value> index;
  std::vector<AxisGroup> groups;
  std::function<void(int)> nest = [&](int axis) {
    if (axis < space.rank()) {
      kernel.b.serial_for(kernel.b.integer(0), kernel.size(space[axis]), [&](Value i) {
        index.push_back(i);
        nest(axis + 1);
      });
      return;
    }
    elements.enter_body({});
    elements.element(input_, index);
    groups = join_axes(space, index, elements.accesses(), kernel.b,
                       [&](int a, int b) { return fates[a] == fates[b] && fates[a] != AxisFate::Open; });
  };
  nest(0);
  indexed_ = elements.indexed_nodes();

  // Kept axes stand in the output in order; reduced ones only where they are kept as size 1.
  const Shape& shape = output_->spec.shape;
  const bool same_rank = shape.rank() == space.rank();
  std::vector<int> output_axis(space.rank(), -1);
  const int leading = space.rank() - shape.rank();
  int next = 0;
  for (int axis = 0; axis < space.rank(); ++axis) {
    if (root_.op->reduce->aligned) {
      output_axis[axis] = axis - leading;
    } else if (same_rank) {
      output_axis[axis] = axis;
    } else if (fates[axis] == AxisFate::Kept) {
      output_axis[axis] = next++;
    }
  }
  for (const AxisGroup& group : groups) axes_.push_back({group, fates[group.last], output_axis[group.last]});
}

void Reduction::emit() {
  kept_.assign(axes_.size(), b_.integer(0));
  reduced_.assign(axes_.size(), b_.integer(0));
  const bool any_kept = std::ranges::any_of(axes_, [](const Axis& axis) { return axis.fate != AxisFate::Reduced; });
  if (!any_kept) return emit_everything();
  if (axes_.back().fate == AxisFate::Kept) return emit_columns();
  emit_rows();
}

// All to one number: parts of fixed size side by side, then one reduction over the parts.
void Reduction::emit_everything() {
  const Axis& first = axes_[0];
  const bool one_axis = axes_.size() == 1;
  const Value extent = kernel_.size(first.group.extent);
  // Floor division of symbols is enough here: one spare part costs nothing.
  const Dim parts = one_axis ? (first.group.extent + (task_elements - 1)) / task_elements : first.group.extent;
  const int32_t partial = kernel_.buffer(context_.new_temporary(output_->spec.dtype, parts), output_->spec.dtype, loop::Access::InOut);
  b_.parallel_for(b_.integer(0), kernel_.size(parts), b_.integer(1), [&](Value part) {
    Value result;
    if (one_axis) {
      const Value begin = b_.multiply(part, b_.integer(task_elements));
      result = accumulate_part(begin, b_.minimum(b_.add(begin, b_.integer(task_elements)), extent));
    } else {
      reduced_[0] = part;
      result = accumulate(1, {});
    }
    b_.store(partial, part, result);
  });
  write(b_.integer(0), b_.reduce(b_.integer(0), kernel_.size(parts), combine_, [&](Value part) { return b_.load(partial, part); }));
}

// The innermost axis stays: its elements are vector lanes, and each lane combines in order.
void Reduction::emit_columns() {
  constexpr int64_t block = 256;
  const size_t last = axes_.size() - 1;
  const Value columns = kernel_.size(axes_[last].group.extent);
  auto columns_of = [&](Value begin, Value end) {
    b_.vector_for(begin, end, [&](Value column) {
      kept_[last] = column;
      const Value result = accumulate(0, column);
      write(output_offset(), result);
    });
  };
  const bool outer_kept = std::any_of(axes_.begin(), axes_.end() - 1, [](const Axis& axis) { return axis.fate != AxisFate::Reduced; });
  if (outer_kept) return walk_kept(0, [&] { columns_of(b_.integer(0), columns); });
  Dim rows = 1;
  for (size_t i = 0; i < last; ++i) rows = rows * axes_[i].group.extent;
  const Value grain =
      b_.maximum(b_.floor_divide(b_.integer(task_elements / block), b_.maximum(kernel_.size(rows), b_.integer(1))), b_.integer(1));
  b_.parallel_for(b_.integer(0), b_.ceil_divide(columns, block), grain, [&](Value part) {
    const Value begin = b_.multiply(part, b_.integer(block));
    columns_of(begin, b_.minimum(b_.add(begin, b_.integer(block)), columns));
  });
}

// The innermost axis goes: every kept element is one reduction in lanes.
void Reduction::emit_rows() {
  walk_kept(0, [&] { write(output_offset(), accumulate(0, {})); });
}

// Loops over the kept axes from `axis` on (but a kept innermost one, which is the vector loop); the first is shared by the pool's threads.
void Reduction::walk_kept(size_t axis, const std::function<void()>& body) {
  const bool innermost_is_vector = axes_.back().fate == AxisFate::Kept;
  const size_t end = axes_.size() - (innermost_is_vector ? 1 : 0);
  bool is_first = true;
  for (size_t i = 0; i < axis; ++i) is_first = is_first && axes_[i].fate == AxisFate::Reduced;
  while (axis < end && axes_[axis].fate == AxisFate::Reduced) ++axis;
  if (axis >= end) return body();
  const Value count =
      kernel_.size(axes_[axis].fate == AxisFate::Open ? output_->spec.shape[axes_[axis].output_axis] : axes_[axis].group.extent);
  auto step = [&](Value i) {
    kept_[axis] = i;
    walk_kept(axis + 1, body);
  };
  if (!is_first) return b_.serial_for(b_.integer(0), count, step);
  const Value elements = kernel_.size(input_->spec.shape.count());
  const Value each = b_.maximum(b_.floor_divide(elements, b_.maximum(count, b_.integer(1))), b_.integer(1));
  b_.parallel_for(b_.integer(0), count, b_.maximum(b_.floor_divide(b_.integer(task_elements), each), b_.integer(1)), step);
}

// Combines everything along the reduced axes from `axis` on. `inner` is the vector index where the innermost axis is kept.
Value Reduction::accumulate(size_t axis, Value inner) {
  while (axis < axes_.size() && axes_[axis].fate == AxisFate::Kept) ++axis;
  if (axis == axes_.size()) return value_at(inner);
  if (axis + 1 == axes_.size()) return accumulate_part(b_.integer(0), kernel_.size(axes_[axis].group.extent));
  const Value initial[] = {identity()};
  return b_.carry_for(b_.integer(0), repeated_extent(axes_[axis]), initial, [&](Value i, std::span<const Value> carried) {
    reduced_[axis] = i;
    return std::vector<Value>{combine(carried[0], accumulate(axis + 1, inner))};
  })[0];
}

// The innermost axis in 16 lanes.
Value Reduction::accumulate_part(Value begin, Value end) {
  return b_.reduce(begin, end, combine_, [&](Value i) {
    reduced_.back() = i;
    return value_at(i);
  });
}

Value Reduction::value_at(Value inner) {
  std::vector<Value> index(input_->spec.shape.rank(), b_.integer(0));
  for (size_t i = 0; i < axes_.size(); ++i) {
    // One of the two is always 0: an open axis is either walked in the output or combined.
    index[axes_[i].group.last] = b_.add(kept_[i], reduced_[i]);
  }
  elements_.enter_body(inner);
  return elements_.element(input_, index);
}

Value Reduction::output_offset() {
  std::vector<Value> index(output_->spec.shape.rank(), b_.integer(0));
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i].output_axis >= 0) index[axes_[i].output_axis] = kept_[i];
  }
  return elements_.offset(output_->spec.shape, index);
}

Value Reduction::repeated_extent(const Axis& axis) {
  const Value extent = kernel_.size(axis.group.extent);
  if (axis.fate == AxisFate::Reduced) return extent;
  return b_.select(b_.equal(kernel_.size(output_->spec.shape[axis.output_axis]), extent), b_.integer(1), extent);
}

Value Reduction::combine(Value a, Value b) {
  switch (combine_) {
    case loop::Combine::Sum: return b_.add(a, b);
    case loop::Combine::Product: return b_.multiply(a, b);
    case loop::Combine::Maximum: return b_.maximum(a, b);
    case loop::Combine::Minimum: return b_.minimum(a, b);
    case loop::Combine::All: return b_.binary(loop::Op::And, a, b);
    case loop::Combine::Any: return b_.binary(loop::Op::Or, a, b);
  }
  throw InternalError("lower: unknown combine");
}

Value Reduction::identity() {
  const Dtype dtype = output_->spec.dtype;
  const bool floating = is_floating(dtype);
  const double infinity = std::numeric_limits<double>::infinity();
  switch (combine_) {
    case loop::Combine::Sum: return b_.constant(dtype, int64_t{0});
    case loop::Combine::Product: return b_.constant(dtype, int64_t{1});
    case loop::Combine::Maximum: return floating ? b_.constant(dtype, -infinity) : b_.constant(dtype, lowest(dtype));
    case loop::Combine::Minimum: return floating ? b_.constant(dtype, infinity) : b_.constant(dtype, ~lowest(dtype));
    case loop::Combine::All: return b_.constant(dtype, int64_t{1});
    case loop::Combine::Any: return b_.constant(dtype, int64_t{0});
  }
  throw InternalError("lower: unknown combine");
}

}  // namespace

GroupKernel lower_reduction(const Node& root, const GroupContext& context) { return Reduction(root, context).run(); }

}  // namespace anyshape::lower
