// Ops of a loop's body computed for all steps at once, on values stacked along their first axis.
#pragma once
#include "graph/graph.h"
#include "ops/control/scan.h"

namespace anyshape {

// Whether the op gives all steps of its output from all steps of its inputs, stacked. Where `invariant` holds an input is the same in every
// step and is given as it is.
bool runs_stacked(const graph::Node& node, const ScanAttrs& attrs, const std::function<bool(size_t input)>& invariant);

// Gradients of what a body captures that are left to be computed after the loop: an op that reads the captured value directly is pulled back
// once, on all its steps.
class LateGradients {
 public:
  LateGradients() = default;
  // `slices` as the body of the loop backwards is given them.
  LateGradients(const ScanAttrs& attrs, std::span<const Tensor> slices) : attrs_(&attrs), slices_(slices.begin(), slices.end()) {}

  void take_over(const graph::Node& node, const GradientCall& call, std::span<bool> wanted);
  const std::vector<Tensor>& stacked() const { return stacked_; }  // what the loop has to give, further outputs of it

  // After the loop: adds to the gradients of the scan's inputs. `sequences` are those of the loop backwards, `stacked` what it gave.
  void add_to(std::vector<Tensor>& gradients, std::span<const Tensor> inputs, std::span<const Tensor> sequences,
              std::span<const Tensor> stacked) const;

 private:
  struct Operand {
    enum class Kind : uint8_t { Input, Sequence, Stacked } kind;
    size_t number;
  };
  struct Late {
    const graph::Node* node;
    Attrs attrs;
    size_t wanted;  // of its inputs
    size_t input;   // of the body
    std::vector<Operand> inputs, outputs, dys;
  };
  bool is_captured(const graph::Value* value) const;
  Operand find(const Tensor& inside);

  const ScanAttrs* attrs_ = nullptr;
  std::vector<Tensor> slices_, stacked_;
  std::vector<Late> late_;
};

}  // namespace anyshape
