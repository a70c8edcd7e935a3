// Writes the loop that follows a product on the blocks of its result.
#pragma once
#include "lower/loop_axes.h"

namespace anyshape::lower {

// Whether the loop's axes fall into rows of the product's last axis, each walked without gaps. It may see the result under another shape.
bool can_follow(const graph::Value& product, const PlannedKernel& loop);

class EpilogueWriter {
 public:
  // Of a loop that can follow.
  EpilogueWriter(KernelWriter& kernel, const graph::Value& product, const Epilogue& epilogue, const GroupContext& context);

  void write(const LowerCall::Block& block);

 private:
  void write_rows(const LowerCall::Block& block, const std::vector<OpenChoice>& choices);
  void write_element(std::span<const loop::Value> index);

  KernelWriter& kernel_;
  const Roots& roots_;
  GroupContext context_;
  Elements elements_;
  std::vector<AxisGroup> rows_;
  AxisGroup columns_;
  std::vector<Dim> open_;  // sizes along the columns that are 1 or not only at run time
};

}  // namespace anyshape::lower
