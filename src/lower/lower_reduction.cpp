// Reductions with the elementwise ops that feed them. Along a reduced innermost axis 16 lanes and a fixed tree; along an outer one, columns
// element by element. Long runs are combined in parts (loop/parts.h), side by side where nothing else is, so that rounding errors do not pile up.
#include "lower/reduction_kernel.h"
#include "shape/prove.h"

#include <algorithm>
#include <optional>

namespace anyshape::lower {

using graph::Node;
using loop::Value;

// Neighbouring axes of one fate are walked as one where all that is read goes on from one to the next.
void ReductionKernel::find_axes(const KernelReads& reads) {
  const auto may_join = [&](int a, int b) { return fates_[a] == fates_[b] && fates_[a] != AxisFate::Open; };
  for (const AxisGroup& group : join_axes(space(), reads.joins, may_join)) axes_.push_back({group, fates_[group.last]});
  indexed_ = reads.indexed;
  open_ = reads.open_sizes(space().rank() - 1);
}

void ReductionKernel::find_output_axes(const Node& root, Target& target) const {
  // Kept axes stand in the output in order; reduced ones only where they are kept as size 1.
  const int rank = space().rank(), leading = rank - target.output->spec.shape.rank();
  std::vector<int> output_axis(rank, -1);
  int next = 0;
  for (int axis = 0; axis < rank; ++axis) {
    if (root.op->reduce->aligned) {
      output_axis[axis] = axis - leading;
    } else if (leading == 0) {
      output_axis[axis] = axis;
    } else if (fates_[axis] == AxisFate::Kept) {
      output_axis[axis] = next++;
    }
  }
  for (const Axis& axis : axes_) target.output_axes.push_back(output_axis[axis.group.last]);
}

void ReductionKernel::emit() {
  kept_.assign(axes_.size(), b_.integer(0));
  reduced_.assign(axes_.size(), b_.integer(0));
  const bool any_kept = std::ranges::any_of(axes_, [](const Axis& axis) { return axis.fate != AxisFate::Reduced; });
  if (!any_kept) return emit_everything();
  if (axes_.back().fate == AxisFate::Kept) return emit_columns();
  emit_rows();
}

// All to one number: parts of fixed size side by side, then one reduction over the parts.
void ReductionKernel::emit_everything() {
  const Axis& first = axes_[0];
  const bool one_axis = axes_.size() == 1;
  const Dim part_rows = one_axis ? Dim(loop::part_elements) : max(Dim(loop::part_elements) / max(row_elements(), 1), 1);
  const Dim parts = (first.group.extent + part_rows - 1) / part_rows;
  const Value extent = kernel_.size(first.group.extent), stride = kernel_.size(part_rows);
  const std::vector<int32_t> partial = partial_results(parts);
  b_.each(b_.integer(0), kernel_.size(parts), b_.integer(loop::part_elements), [&](Value part) {
    const Value begin = b_.multiply(part, stride), end = b_.minimum(b_.add(begin, stride), extent);
    const Values results = one_axis ? accumulate_part(begin, end) : in_order(begin, end, [&](Value i) {
      reduced_[0] = i;
      return accumulate(1, {});
    });
    store_partial(partial, part, results);
  });
  write(b_.reduce(b_.integer(0), kernel_.size(parts), combine_, [&](Value part) { return load_partial(partial, part); }));
}

// The innermost axis goes: every kept element is one reduction in lanes.
void ReductionKernel::emit_rows() {
  walk_kept(0, [&] { write(accumulate(0, {})); });
}

// Loops over the kept axes from `axis` on (but a kept innermost one, whose elements `body` walks); the indices of the first are independent.
void ReductionKernel::walk_kept(size_t axis, const std::function<void()>& body) {
  const bool innermost_is_kept = axes_.back().fate == AxisFate::Kept;
  const size_t end = axes_.size() - (innermost_is_kept ? 1 : 0);
  bool is_first = true;
  for (size_t i = 0; i < axis; ++i) is_first = is_first && axes_[i].fate == AxisFate::Reduced;
  while (axis < end && axes_[axis].fate == AxisFate::Reduced) ++axis;
  if (axis >= end) return body();
  const Value count = kernel_.size(axes_[axis].fate == AxisFate::Open ? kept_extent(axis) : axes_[axis].group.extent);
  auto iteration = [&](Value i) {
    kept_[axis] = i;
    walk_kept(axis + 1, body);
  };
  if (!is_first) return b_.serial_for(b_.integer(0), count, iteration);
  const Value elements = kernel_.size(space().count());
  const Value work = b_.floor_divide(elements, b_.maximum(count, b_.integer(1)));
  // Where nothing is kept, nothing is walked, however long the other kept axes are.
  const Value walked = b_.select(b_.equal(kernel_.size(targets_[0].output->spec.shape.count()), b_.integer(0)), b_.integer(0), count);
  b_.each(b_.integer(0), walked, work, iteration);
}

// Combines everything along the reduced axes from `axis` on. `inner` is the vector index where the innermost axis is kept.
ReductionKernel::Values ReductionKernel::accumulate(size_t axis, Value inner) {
  while (axis < axes_.size() && axes_[axis].fate == AxisFate::Kept) ++axis;
  if (axis == axes_.size()) return values_at(inner);
  if (axis + 1 < axes_.size()) {
    return in_order(b_.integer(0), repeated_extent(axis), [&](Value i) {
      reduced_[axis] = i;
      return accumulate(axis + 1, inner);
    });
  }
  const Value extent = kernel_.size(axes_[axis].group.extent);
  const std::optional<bool> is_short = proves_less_equal(axes_[axis].group.extent, loop::part_elements);
  if (is_short.value_or(false)) return accumulate_part(b_.integer(0), extent);
  const Value length = b_.integer(loop::part_elements);
  return in_order(b_.integer(0), b_.ceil_divide(extent, loop::part_elements), [&](Value part) {
    const Value begin = b_.multiply(part, length);
    return accumulate_part(begin, b_.minimum(b_.add(begin, length), extent));
  });
}

ReductionKernel::Values ReductionKernel::in_order(Value begin, Value end, const loop::Contributions& contributions) {
  return loop::reduce_in_order(b_, begin, end, combine_, types_, contributions);
}

// The innermost axis in 16 lanes.
ReductionKernel::Values ReductionKernel::accumulate_part(Value begin, Value end) {
  return b_.reduce(begin, end, combine_, [&](Value i) {
    reduced_.back() = i;
    return values_at(i);
  });
}

ReductionKernel::Values ReductionKernel::values_at(Value inner) {
  std::vector<Value> index(space().rank(), b_.integer(0));
  for (size_t i = 0; i < axes_.size(); ++i) {
    // One of the two is always 0: an open axis is either walked in the output or combined.
    index[axes_[i].group.last] = b_.add(kept_[i], reduced_[i]);
  }
  elements_.enter_body(inner, choices_);
  Values values;
  for (const Target& target : targets_) values.push_back(elements_.element(target.input, index));
  return values;
}

Value ReductionKernel::output_offset(const Target& target) {
  const Shape& shape = target.output->spec.shape;
  std::vector<Value> index(shape.rank(), b_.integer(0));
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (target.output_axes[i] >= 0) index[target.output_axes[i]] = kept_[i];
  }
  return elements_.offset(shape, index);
}

Dim ReductionKernel::row_elements() const {
  Dim elements = 1;
  for (size_t i = 1; i < axes_.size(); ++i) elements = elements * axes_[i].group.extent;
  return elements;
}

Value ReductionKernel::repeated_extent(size_t axis) {
  const Value extent = kernel_.size(axes_[axis].group.extent);
  if (axes_[axis].fate == AxisFate::Reduced) return extent;
  return b_.select(b_.equal(kernel_.size(kept_extent(axis)), extent), b_.integer(1), extent);
}

GroupKernel lower_reduction(const PlannedKernel& planned, const GroupContext& context) {
  return ReductionKernel(planned.roots, planned.reads, context).run();
}

}  // namespace anyshape::lower
