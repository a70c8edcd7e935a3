// Reductions with the elementwise ops that feed them. Along a reduced innermost axis 16 lanes and a fixed tree; along an outer one, columns
// in vector lanes. Long runs are combined in parts, side by side where nothing else is, so that rounding errors do not pile up. How work is
// cut depends on sizes only, so results have the same bits for any number of threads.
#include "loop/combine.h"
#include "lower/axes.h"
#include "lower/lower_loops.h"
#include "lower/row_space.h"
#include "shape/prove.h"

#include <algorithm>
#include <optional>

namespace anyshape::lower {
namespace {

using graph::Node;
using loop::Value;

using Values = std::vector<Value>;  // one for each result

struct Axis {
  AxisGroup group;
  AxisFate fate;
};

// One of the results: reductions of equal fate over inputs of equal shape share their loops.
struct Target {
  const graph::Value* input;
  const graph::Value* output;
  int32_t buffer = -1;
  std::vector<int> output_axes = {};  // per joined axis: that of its last one in the output, or -1
};

class Reduction {
 public:
  Reduction(const Roots& roots, const KernelReads& reads, const GroupContext& context)
      : context_(context),
        fates_(fates_of(*roots[0])),
        kernel_(std::string(roots[0]->op->name)),
        b_(kernel_.b),
        elements_(kernel_, context.groups, context.find_buffer, context.node_number) {
    for (const Node* root : roots) {
      targets_.push_back({root->inputs[0], root->outputs[0]});
      combine_.push_back(root->op->reduce->combine);
      types_.push_back(computed_in(root->outputs[0]->spec.dtype));
    }
    find_axes(reads);
    for (size_t i = 0; i < roots.size(); ++i) find_output_axes(*roots[i], targets_[i]);
  }

  GroupKernel run() {
    check_indices(kernel_, indexed_, context_);
    for (Target& target : targets_) {
      target.buffer = kernel_.buffer(context_.find_buffer(target.output), target.output->spec.dtype, loop::Access::Out);
    }
    if (axes_.empty()) {
      write(values_at({}));
    } else {
      emit_versions(kernel_, open_, axes_.back().group.extent, [&](const std::vector<OpenChoice>& choices) {
        choices_ = choices;
        emit_innermost();
      });
    }
    return {kernel_.finish(), indexed_};
  }

 private:
  void find_axes(const KernelReads& reads);
  std::vector<Dim> open_sizes();
  void find_output_axes(const Node& root, Target& target) const;
  void emit_innermost() {
    if (axes_.back().fate != AxisFate::Open) return emit();
    // Two versions of the innermost axis: as it is, or summed to one element.
    const Dim kept = kept_extent(axes_.size() - 1);
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
  Values accumulate(size_t axis, Value inner);
  Values accumulate_part(Value begin, Value end);
  Values in_order(Value begin, Value end, const loop::Contributions& contributions);
  Values values_at(Value inner);
  std::vector<int32_t> partial_results(const Dim& count) {
    std::vector<int32_t> buffers;
    for (const Dtype dtype : types_) buffers.push_back(kernel_.buffer(context_.new_temporary(dtype, count), dtype, loop::Access::InOut));
    return buffers;
  }
  void store_partial(std::span<const int32_t> buffers, Value offset, const Values& results) {
    for (size_t i = 0; i < results.size(); ++i) b_.store(buffers[i], offset, results[i]);
  }
  Values load_partial(std::span<const int32_t> buffers, Value offset) {
    Values loaded;
    for (const int32_t buffer : buffers) loaded.push_back(b_.load(buffer, offset));
    return loaded;
  }
  void write(const Values& results) {
    for (size_t i = 0; i < results.size(); ++i) b_.store(targets_[i].buffer, output_offset(targets_[i]), results[i]);
  }
  Value output_offset(const Target& target);
  // Open axes come with one result only: the size that it keeps of one.
  Dim kept_extent(size_t axis) const { return targets_[0].output->spec.shape[targets_[0].output_axes[axis]]; }
  const Shape& space() const { return targets_[0].input->spec.shape; }
  Value repeated_extent(size_t axis);

  const GroupContext& context_;
  std::vector<AxisFate> fates_;  // per axis of the input
  std::vector<Target> targets_;
  std::vector<loop::Combine> combine_;  // per result
  std::vector<Dtype> types_;            // that each is combined in
  KernelWriter kernel_;
  loop::Builder& b_;
  Elements elements_;
  std::vector<Axis> axes_;
  std::vector<const Node*> indexed_;
  std::vector<Dim> open_;            // sizes along the innermost axis that are 1 or not only at run time
  std::vector<OpenChoice> choices_;  // what the version being written takes them for
  std::vector<Value> kept_;          // per joined axis: its index in the output, 0 where it is reduced
  std::vector<Value> reduced_;       // per joined axis: its index among what is combined, 0 where it is kept
};

// Neighbouring axes of one fate are walked as one where all that is read goes on from one to the next.
void Reduction::find_axes(const KernelReads& reads) {
  const auto may_join = [&](int a, int b) { return fates_[a] == fates_[b] && fates_[a] != AxisFate::Open; };
  for (const AxisGroup& group : join_axes(space(), reads.joins, may_join)) axes_.push_back({group, fates_[group.last]});
  indexed_ = reads.indexed;
  if (reads.has_open_sizes) open_ = open_sizes();
}

// Along the innermost axis, by a dry run.
std::vector<Dim> Reduction::open_sizes() {
  KernelWriter kernel("dry_run");
  Elements elements(kernel, context_.groups, context_.find_buffer, context_.node_number);
  nest_loops(kernel, space(), [&](const std::vector<Value>& index) {
    elements.enter_body(index.empty() ? Value{} : index.back());
    for (const Target& target : targets_) elements.element(target.input, index);
  });
  return elements.open_inner_sizes();
}

void Reduction::find_output_axes(const Node& root, Target& target) const {
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
  const std::vector<int32_t> partial = partial_results(parts);
  b_.parallel_for(b_.integer(0), kernel_.size(parts), b_.integer(1), [&](Value part) {
    const Value begin = b_.multiply(part, step), end = b_.minimum(b_.add(begin, step), extent);
    const Values results = one_axis ? accumulate_part(begin, end) : in_order(begin, end, [&](Value i) {
      reduced_[0] = i;
      return accumulate(1, {});
    });
    store_partial(partial, part, results);
  });
  write(b_.reduce(b_.integer(0), kernel_.size(parts), combine_, [&](Value part) { return load_partial(partial, part); }));
}

// The innermost axis stays: its elements are vector lanes, and each lane combines in order.
void Reduction::emit_columns() {
  const size_t last = axes_.size() - 1;
  const Value columns = kernel_.size(axes_[last].group.extent);
  auto columns_of = [&](Value begin, Value end) {
    b_.vector_for(begin, end, [&](Value column) {
      kept_[last] = column;
      write(accumulate(0, column));
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

// Nothing but the innermost axis stays, as in the gradient of a bias: parts of the rows side by side, then their results in order. A part goes
// through its rows a few at a time, so that memory is read along rows and what has been combined is near.
void Reduction::emit_column_parts() {
  const size_t last = axes_.size() - 1;
  const Axis& first = axes_[0];
  Dim width = 1;  // elements in one step of the first axis
  for (size_t i = 1; i < axes_.size(); ++i) width = width * axes_[i].group.extent;
  const Dim part_rows = rows_per_part(width), parts = (first.group.extent + part_rows - 1) / part_rows;
  const Dim column_count = axes_[last].group.extent;
  const Value columns = kernel_.size(column_count), rows = kernel_.size(first.group.extent);
  const std::vector<int32_t> partial = partial_results(parts * column_count);
  const Value zero = b_.integer(0), one = b_.integer(1), blocks = b_.ceil_divide(columns, columns_at_once);
  const Value part_size = b_.multiply(kernel_.size(part_rows), kernel_.size(width));
  const Value grain = b_.maximum(b_.floor_divide(b_.multiply(b_.integer(task_elements), blocks), b_.maximum(part_size, one)), one);
  // Two long rows, which memory delivers in step, or some more short ones.
  const Value at_once =
      b_.minimum(b_.maximum(b_.floor_divide(b_.integer(2 * columns_at_once), b_.maximum(columns, one)), b_.integer(2)), b_.integer(16));
  // Part after part, so that tasks of one part are neighbours.
  using ForColumns = std::function<void(const std::function<void(Value column)>&)>;
  auto in_blocks = [&](Value part_count, const std::function<void(Value part, const ForColumns& for_columns)>& body) {
    b_.parallel_for(zero, b_.multiply(part_count, blocks), grain, [&](Value task) {
      const Value part = b_.floor_divide(task, blocks),
                  begin = b_.multiply(b_.subtract(task, b_.multiply(part, blocks)), b_.integer(columns_at_once));
      body(part, [&](const std::function<void(Value)>& each) {
        b_.vector_for(begin, b_.minimum(b_.add(begin, b_.integer(columns_at_once)), columns), [&](Value column) {
          kept_[last] = column;
          each(column);
        });
      });
    });
  };
  const auto place = [&](Value part, Value column) { return b_.add(b_.multiply(part, columns), column); };
  in_blocks(kernel_.size(parts), [&](Value part, const ForColumns& for_columns) {
    Values start;
    for (size_t i = 0; i < targets_.size(); ++i) start.push_back(loop::identity(b_, combine_[i], types_[i]));
    for_columns([&](Value column) { store_partial(partial, place(part, column), start); });
    const Value begin = b_.multiply(part, kernel_.size(part_rows)), end = b_.minimum(b_.add(begin, kernel_.size(part_rows)), rows);
    b_.serial_for(zero, b_.floor_divide(b_.add(b_.subtract(end, begin), b_.subtract(at_once, one)), at_once), [&](Value step) {
      const Value from = b_.add(begin, b_.multiply(step, at_once)), to = b_.minimum(b_.add(from, at_once), end);
      for_columns([&](Value column) {
        const Values so_far = load_partial(partial, place(part, column));
        const Values results = loop::combine_in_order(b_, from, to, combine_, so_far, [&](Value row) {
          reduced_[0] = row;
          return accumulate(1, column);
        });
        store_partial(partial, place(part, column), results);
      });
    });
  });
  in_blocks(one, [&](Value, const ForColumns& for_columns) {
    for_columns([&](Value column) {
      write(in_order(zero, kernel_.size(parts), [&](Value part) { return load_partial(partial, place(part, column)); }));
    });
  });
}

// The innermost axis goes: every kept element is one reduction in lanes.
void Reduction::emit_rows() {
  walk_kept(0, [&] { write(accumulate(0, {})); });
}

// Loops over the kept axes from `axis` on (but a kept innermost one, which is the vector loop); the first is shared by the pool's threads.
void Reduction::walk_kept(size_t axis, const std::function<void()>& body) {
  const bool innermost_is_vector = axes_.back().fate == AxisFate::Kept;
  const size_t end = axes_.size() - (innermost_is_vector ? 1 : 0);
  bool is_first = true;
  for (size_t i = 0; i < axis; ++i) is_first = is_first && axes_[i].fate == AxisFate::Reduced;
  while (axis < end && axes_[axis].fate == AxisFate::Reduced) ++axis;
  if (axis >= end) return body();
  const Value count = kernel_.size(axes_[axis].fate == AxisFate::Open ? kept_extent(axis) : axes_[axis].group.extent);
  auto step = [&](Value i) {
    kept_[axis] = i;
    walk_kept(axis + 1, body);
  };
  if (!is_first) return b_.serial_for(b_.integer(0), count, step);
  const Value elements = kernel_.size(space().count());
  const Value each = b_.maximum(b_.floor_divide(elements, b_.maximum(count, b_.integer(1))), b_.integer(1));
  // Where nothing is kept, nothing is walked, however long the other kept axes are.
  const Value walked = b_.select(b_.equal(kernel_.size(targets_[0].output->spec.shape.count()), b_.integer(0)), b_.integer(0), count);
  b_.parallel_for(b_.integer(0), walked, b_.maximum(b_.floor_divide(b_.integer(task_elements), each), b_.integer(1)), step);
}

// Combines everything along the reduced axes from `axis` on. `inner` is the vector index where the innermost axis is kept.
Values Reduction::accumulate(size_t axis, Value inner) {
  while (axis < axes_.size() && axes_[axis].fate == AxisFate::Kept) ++axis;
  if (axis == axes_.size()) return values_at(inner);
  if (axis + 1 < axes_.size()) {
    return in_order(b_.integer(0), repeated_extent(axis), [&](Value i) {
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

Values Reduction::in_order(Value begin, Value end, const loop::Contributions& contributions) {
  return loop::reduce_in_order(b_, begin, end, combine_, types_, contributions);
}

// The innermost axis in 16 lanes.
Values Reduction::accumulate_part(Value begin, Value end) {
  return b_.reduce(begin, end, combine_, [&](Value i) {
    reduced_.back() = i;
    return values_at(i);
  });
}

Values Reduction::values_at(Value inner) {
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

Value Reduction::output_offset(const Target& target) {
  const Shape& shape = target.output->spec.shape;
  std::vector<Value> index(shape.rank(), b_.integer(0));
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (target.output_axes[i] >= 0) index[target.output_axes[i]] = kept_[i];
  }
  return elements_.offset(shape, index);
}

Value Reduction::repeated_extent(size_t axis) {
  const Value extent = kernel_.size(axes_[axis].group.extent);
  if (axes_[axis].fate == AxisFate::Reduced) return extent;
  return b_.select(b_.equal(kernel_.size(kept_extent(axis)), extent), b_.integer(1), extent);
}

}  // namespace

GroupKernel lower_reduction(const PlannedKernel& planned, const GroupContext& context) {
  return Reduction(planned.roots, planned.reads, context).run();
}

}  // namespace anyshape::lower
