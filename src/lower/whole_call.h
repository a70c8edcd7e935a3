// The view of an op that writes its own loops, and of what follows it on the blocks it writes; or that leaves its work to the library.
#pragma once
#include "loop/element.h"
#include "lower/lower_epilogue.h"

#include <optional>

namespace anyshape::lower {

class WholeCall final : public LowerCall {
 public:
  // `program` is what has been lowered so far.
  WholeCall(const Program& program, const GroupContext& context, KernelWriter& kernel, const graph::Node& node, const OpCall& call,
            std::span<const TensorSpec> outputs)
      : LowerCall(kernel.b, call, outputs), program_(program), context_(context), kernel_(kernel), node_(node) {}

  int32_t input(int k) override;
  int32_t output(int k) override;
  int32_t scratch(Dtype dtype, const Dim& count) override;
  Dim stride(int k, int axis) override;
  bool is_row_major(int k) override { return node_.inputs[static_cast<size_t>(k)]->strides.empty(); }
  loop::Value size(const Dim& dim) override { return kernel_.size(dim); }
  bool is_known_at_call(const Dim& dim) override;
  int op_number() override {
    has_told_number_ = true;
    return context_.node_number(&node_);
  }
  void decide(std::string_view stage, bool yes, std::string reason) override;
  void use_library(LibraryWork work, std::vector<Scratch> scratch) override;
  void written(const Block& block) override;

  bool has_told_number() const { return has_told_number_; }
  void follow(EpilogueWriter& epilogue) { epilogue_ = &epilogue; }
  std::optional<LibraryCall>& library() { return library_; }  // none: the rule has written loops

 private:
  const Program& program_;
  const GroupContext& context_;
  KernelWriter& kernel_;
  const graph::Node& node_;
  EpilogueWriter* epilogue_ = nullptr;
  std::optional<LibraryCall> library_;
  bool has_told_number_ = false;
};

}  // namespace anyshape::lower
