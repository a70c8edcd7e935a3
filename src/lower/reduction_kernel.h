// A reduction being written, with the elementwise ops that feed it. Internal to lower_reduction.cpp and lower_reduction_columns.cpp.
#pragma once
#include "loop/combine.h"
#include "lower/axes.h"
#include "lower/lower_loops.h"
#include "lower/row_space.h"

namespace anyshape::lower {

class ReductionKernel {
 public:
  ReductionKernel(const Roots& roots, const KernelReads& reads, const GroupContext& context)
      : context_(context),
        fates_(fates_of(*roots[0])),
        kernel_(std::string(roots[0]->op->name)),
        b_(kernel_.b),
        elements_(kernel_, context.groups, context.find_buffer, context.node_number) {
    for (const graph::Node* root : roots) {
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
  using Values = std::vector<loop::Value>;  // one for each result

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

  // lower_reduction.cpp: everything, and rows
  void find_axes(const KernelReads& reads);
  void find_output_axes(const graph::Node& root, Target& target) const;
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
  void emit_rows();
  void walk_kept(size_t axis, const std::function<void()>& body);
  Values accumulate(size_t axis, loop::Value inner);
  Values accumulate_part(loop::Value begin, loop::Value end);
  Values in_order(loop::Value begin, loop::Value end, const loop::Contributions& contributions);
  Values values_at(loop::Value inner);
  std::vector<int32_t> partial_results(const Dim& count) {
    std::vector<int32_t> buffers;
    for (const Dtype dtype : types_) buffers.push_back(kernel_.buffer(context_.new_temporary(dtype, count), dtype, loop::Access::InOut));
    return buffers;
  }
  void store_partial(std::span<const int32_t> buffers, loop::Value offset, const Values& results) {
    for (size_t i = 0; i < results.size(); ++i) b_.store(buffers[i], offset, results[i]);
  }
  Values load_partial(std::span<const int32_t> buffers, loop::Value offset) {
    Values loaded;
    for (const int32_t buffer : buffers) loaded.push_back(b_.load(buffer, offset));
    return loaded;
  }
  void write(const Values& results) {
    for (size_t i = 0; i < results.size(); ++i) b_.store(targets_[i].buffer, output_offset(targets_[i]), results[i]);
  }
  loop::Value output_offset(const Target& target);
  // Open axes come with one result only: the size that it keeps of one.
  Dim kept_extent(size_t axis) const { return targets_[0].output->spec.shape[targets_[0].output_axes[axis]]; }
  const Shape& space() const { return targets_[0].input->spec.shape; }
  Dim row_elements() const;  // at one index of the first axis
  loop::Value repeated_extent(size_t axis);

  // lower_reduction_columns.cpp: columns in vector lanes
  void emit_columns();
  void emit_column_parts();

  const GroupContext& context_;
  std::vector<AxisFate> fates_;  // per axis of the input
  std::vector<Target> targets_;
  std::vector<loop::Combine> combine_;  // per result
  std::vector<Dtype> types_;            // that each is combined in
  KernelWriter kernel_;
  loop::Builder& b_;
  Elements elements_;
  std::vector<Axis> axes_;
  std::vector<const graph::Node*> indexed_;
  std::vector<Dim> open_;             // sizes along the innermost axis that are 1 or not only at run time
  std::vector<OpenChoice> choices_;   // what the version being written takes them for
  std::vector<loop::Value> kept_;     // per joined axis: its index in the output, 0 where it is reduced
  std::vector<loop::Value> reduced_;  // per joined axis: its index among what is combined, 0 where it is kept
};

}  // namespace anyshape::lower
