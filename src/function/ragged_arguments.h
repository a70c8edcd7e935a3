// Ragged tensors at the border of a trace: inside, there are dense values and splits only.
#pragma once
#include "tensor/partition.h"

#include <anyshape/spec.h>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace anyshape::function_detail {

void append_dense_parts(std::span<const Tensor> tensors, std::vector<Tensor>& parts);  // of a ragged tensor its values and its splits

// Which results of a trace are ragged, and where their rows come from: an argument's, those of a captured tensor, or splits of their own.
class RaggedResults {
 public:
  struct Result {
    bool is_ragged = false;
    Shape shape = {};
    std::optional<size_t> argument = std::nullopt;
    std::shared_ptr<const Partition> held = nullptr;

    bool brings_splits() const { return !argument && held == nullptr; }
  };

  RaggedResults() = default;
  explicit RaggedResults(std::vector<Result> results) : results_(std::move(results)) {}
  const std::vector<Result>& results() const { return results_; }
  std::vector<Tensor> take_apart(std::vector<Tensor> results, std::span<const Tensor> arguments);  // while tracing
  // The results of a call. Rows that are an argument's are that argument's very own, so that it is told at once that they are equal.
  std::vector<Tensor> put_together(std::vector<Tensor> parts, std::span<const Tensor> arguments) const;
  std::vector<TensorSpec> specs(std::vector<TensorSpec> parts) const;

 private:
  std::vector<Result> results_;
};

}  // namespace anyshape::function_detail
