// Calls in the order in which they were made, and the walk backwards over them.
#pragma once
#include "base/pointer_table.h"
#include "graph/op_def.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace anyshape {

using TensorSet = PointerTable<detail::TensorImpl, bool>;  // of those that are in it

class CallRecords {
 public:
  void add(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs);

  // The tensors on the way from the sources, so that nothing is computed for the others.
  TensorSet dependents(std::span<const std::vector<Tensor>> sources) const;

  // For each source (one tensor or several that count as one) the gradient of all targets, or nothing where none depends on it. Seeds are
  // the gradients of the targets; none: ones. Ops whose gradient is 0 everywhere make their inputs no part of it where `through_flat` is false.
  std::vector<std::optional<Tensor>> gradient(std::span<const Tensor> targets, std::span<const Tensor> seeds,
                                              std::span<const std::vector<Tensor>> sources, bool through_flat = true) const;

  const std::vector<Tensor>& tensors() const { return tensors_; }  // inputs and outputs of all calls

 private:
  struct Record {
    const OpDef* op;
    Attrs attrs;
    size_t first, inputs, outputs;  // its tensors
    std::string place;              // the layer or loss that called it
  };
  std::span<const Tensor> inputs_of(const Record& record) const { return std::span(tensors_).subspan(record.first, record.inputs); }
  std::span<const Tensor> outputs_of(const Record& record) const {
    return std::span(tensors_).subspan(record.first + record.inputs, record.outputs);
  }

  std::vector<Record> records_;
  std::vector<Tensor> tensors_;  // of all records, which keep them alive: tensors are known by what they point at
};

}  // namespace anyshape
