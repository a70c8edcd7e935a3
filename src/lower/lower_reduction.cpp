// Reductions with the elementwise ops that feed them. Along a reduced innermost axis 16 lanes and a fixed tree; along an outer one, columns
// in vector lanes. Long runs are combined in parts, side by side where nothing else is, so that rounding errors do not pile up. How work is
// cut depends on sizes only, so results have the same bits for any number of threads.
#include "loop/combine.h"
#include "lower/axes.h"
#include "lower/lower_loops.h"
#include "shape/prove.h"

#include <algorithm>
#include <optional>

namespace anyshape::lower {
namespace {

using graph::Node;
using loop::Value;

struct Axis {
  AxisGroup group;
  AxisFate fate;
  int output_axis;  // of the last joined axis in the output, or -1
};

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
    } else {
      emit_versions(kernel_, open_, axes_.back().group.extent, [&](const std::vector<OpenChoice>& choices) {
        choices_ = choices;
        emit_innermost();
      });
    }
    return {kernel_.finish(), indexed_};
  }

 private:
  void find_axes();
  void emit_innermost() {
    if (axes_.back().fate != AxisFate::Open) return emit();
    // Two versions of the innermost axis: as it is, or summed to one element.
    const Dim& kept = output_->spec.shape[axes_.back().output_axis];
    b_.if_(
        b_.equal(kernel_.size(kept), kernel_.size(axes_.back().group.extent)), [&] { emit_as(AxisFate::Kept); },
        [&] { emit_as(AxisFate::Reduced); });
  }
  void emit_as(AxisFate innermost) {
    const std::vector<Axis> axes = axes_;
    axes_.back().fate = innermost;
    emit();
    axes_ = axes;
  }
  void emit();
  void emit_everything();
  void emit_columns();
  void emit_column_parts();
  void emit_rows();
  void walk_kept(size_t axis, const std::function<void()>& body);
  Value accumulate(size_t axis, Value inner);
  Value accumulate_part(Value begin, Value end);
  Value in_order(Value begin, Value end, const std::function<Value(Value)>& contribution);
  Value value_at(Value inner);
  int32_t partial_results(const Dim& count) {
    const Dtype dtype = computed_in(output_->spec.dtype);
    return kernel_.buffer(context_.new_temporary(dtype, count), dtype, loop::Access::InOut);
  }
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
  std::vector<Dim> open_;            // sizes along the innermost axis that are 1 or not only at run time
  std::vector<OpenChoice> choices_;  // what the version being written takes them for
  int32_t target_ = -1;
  std::vector<Value> kept_;     // per joined axis: its index in the output, 0 where it is reduced
  std::vector<Value> reduced_;  // per joined axis: its index among what is combined, 0 where it is kept
};

// A dry run finds which neighbouring axes of one fate can be walked as one.
void Reduction::find_axes() {
  const std::vector<TensorSpec> specs = graph::input_specs(root_);
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
    elements.enter_body(index.empty() ? Value{} : index.back());
    elements.element(input_, index);
    groups = join_axes(space, index, elements.accesses(), kernel.b,
                       [&](int a, int b) { return fates[a] == fates[b] && fates[a] != AxisFate::Open; });
  };
  nest(0);
  indexed_ = elements.indexed_nodes();
  open_ = elements.open_inner_sizes();

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
  Dim row = 1;  // elements in one step of the first axis
  for (size_t i = 1; i < axes_.size(); ++i) row = row * axes_[i].group.extent;
  const Dim part_rows = one_axis ? Dim(task_elements) : max(Dim(task_elements) / max(row, 1), 1);
  const Dim parts = (first.group.extent + part_rows - 1) / part_rows;
  const Value extent = kernel_.size(first.group.extent), step = kernel_.size(part_rows);
  const int32_t partial = partial_results(parts);
  b_.parallel_for(b_.integer(0), kernel_.size(parts), b_.integer(1), [&](Value part) {
    const Value begin = b_.multiply(part, step), end = b_.minimum(b_.add(begin, step), extent);
    const Value result = one_axis ? accumulate_part(begin, end) : in_order(begin, end, [&](Value i) {
      reduced_[0] = i;
      return accumulate(1, {});
    });
    b_.store(partial, part, result);
  });
  write(b_.integer(0), b_.reduce(b_.integer(0), kernel_.size(parts), combine_, [&](Value part) { return b_.load(partial, part); }));
}

// The innermost axis stays: its elements are vector lanes, and each lane combines in order.
void Reduction::emit_columns() {
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
  if (last > 0) return emit_column_parts();
  b_.parallel_for(b_.integer(0), b_.ceil_divide(columns, task_elements), b_.integer(1), [&](Value part) {
    const Value begin = b_.multiply(part, b_.integer(task_elements));
    columns_of(begin, b_.minimum(b_.add(begin, b_.integer(task_elements)), columns));
  });
}

// Nothing but the innermost axis stays, as in the gradient of a bias: parts of the rows side by side, then their results in order.
void Reduction::emit_column_parts() {
  constexpr int64_t block = 256, least_rows = 256;
  const size_t last = axes_.size() - 1;
  const Axis& first = axes_[0];
  Dim width = 1;  // elements in one step of the first axis
  for (size_t i = 1; i < axes_.size(); ++i) width = width * axes_[i].group.extent;
  const Dim part_rows = max(Dim(task_elements) / max(width, 1), least_rows), parts = (first.group.extent + part_rows - 1) / part_rows;
  const Dim column_count = axes_[last].group.extent;
  const Value columns = kernel_.size(column_count), rows = kernel_.size(first.group.extent);
  const int32_t partial = partial_results(parts * column_count);
  const Value one = b_.integer(1), blocks = b_.ceil_divide(columns, block);
  const Value part_size = b_.multiply(kernel_.size(part_rows), kernel_.size(width));
  const Value grain = b_.maximum(b_.floor_divide(b_.multiply(b_.integer(task_elements), blocks), b_.maximum(part_size, one)), one);
  // Part after part, so that tasks of one part are neighbours.
  auto in_blocks = [&](Value part_count, const std::function<void(Value part, Value column)>& body) {
    b_.parallel_for(b_.integer(0), b_.multiply(part_count, blocks), grain, [&](Value task) {
      const Value part = b_.floor_divide(task, blocks),
                  begin = b_.multiply(b_.subtract(task, b_.multiply(part, blocks)), b_.integer(block));
      b_.vector_for(begin, b_.minimum(b_.add(begin, b_.integer(block)), columns), [&](Value column) { body(part, column); });
    });
  };
  in_blocks(kernel_.size(parts), [&](Value part, Value column) {
    kept_[last] = column;
    const Value begin = b_.multiply(part, kernel_.size(part_rows)), end = b_.minimum(b_.add(begin, kernel_.size(part_rows)), rows);
    b_.store(partial, b_.add(b_.multiply(part, columns), column), in_order(begin, end, [&](Value row) {
               reduced_[0] = row;
               return accumulate(1, column);
             }));
  });
  in_blocks(one, [&](Value, Value column) {
    kept_[last] = column;
    const Value result = in_order(b_.integer(0), kernel_.size(parts),
                                  [&](Value part) { return b_.load(partial, b_.add(b_.multiply(part, columns), column)); });
    write(output_offset(), result);
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
  // Where nothing is kept, nothing is walked, however long the other kept axes are.
  const Value walked = b_.select(b_.equal(kernel_.size(output_->spec.shape.count()), b_.integer(0)), b_.integer(0), count);
  b_.parallel_for(b_.integer(0), walked, b_.maximum(b_.floor_divide(b_.integer(task_elements), each), b_.integer(1)), step);
}

// Combines everything along the reduced axes from `axis` on. `inner` is the vector index where the innermost axis is kept.
Value Reduction::accumulate(size_t axis, Value inner) {
  while (axis < axes_.size() && axes_[axis].fate == AxisFate::Kept) ++axis;
  if (axis == axes_.size()) return value_at(inner);
  if (axis + 1 < axes_.size()) {
    return in_order(b_.integer(0), repeated_extent(axes_[axis]), [&](Value i) {
      reduced_[axis] = i;
      return accumulate(axis + 1, inner);
    });
  }
  const Value extent = kernel_.size(axes_[axis].group.extent);
  const std::optional<bool> is_short = proves_less_equal(axes_[axis].group.extent, task_elements);
  if (is_short.value_or(false)) return accumulate_part(b_.integer(0), extent);
  return in_order(b_.integer(0), b_.ceil_divide(extent, task_elements), [&](Value part) {
    const Value begin = b_.multiply(part, b_.integer(task_elements));
    return accumulate_part(begin, b_.minimum(b_.add(begin, b_.integer(task_elements)), extent));
  });
}

Value Reduction::in_order(Value begin, Value end, const std::function<Value(Value)>& contribution) {
  return loop::reduce_in_order(b_, begin, end, combine_, computed_in(output_->spec.dtype), contribution);
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
  elements_.enter_body(inner, choices_);
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

}  // namespace

GroupKernel lower_reduction(const Node& root, const GroupContext& context) { return Reduction(root, context).run(); }

}  // namespace anyshape::lower
