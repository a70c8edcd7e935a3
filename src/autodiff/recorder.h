// The recording interpreter behind GradientTape: forwards every call to the interpreter it stands in front of and writes down those that
// depend on something tracked.
#pragma once
#include "graph/bind.h"
#include "graph/stateful.h"

#include <anyshape/gradient.h>

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace anyshape {

// One recorded call. Tensors are known by what they point at, so the record keeps them alive.
struct TapeRecord {
  const OpDef* op;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  Attrs attrs;
};

using TensorSet = std::unordered_set<const TensorImpl*>;

class GradientTape::Recorder final : public Interpreter {
 public:
  explicit Recorder(TapeOptions options) : options_(options) { scope_.emplace(*this); }

  std::vector<Tensor> run(const BoundCall& call) override;
  void on_read(const VariableState& variable, const Tensor& tensor) override;
  bool records() const override { return !paused_ || scope_->outer().records(); }
  const Facts* facts() const override { return scope_->outer().facts(); }
  void require_own(std::string_view op, const Tensor& tensor) const override { scope_->outer().require_own(op, tensor); }

  void watch(const Tensor& tensor);
  std::vector<Tensor> given_by(
      const Variable& variable) const;  // what reading it gave, in order; none where it was not read under the tape

  // For each source (one tensor or several that count as one) the gradient, or nothing where the target does not depend on it.
  std::vector<std::optional<Tensor>> gradient(const Tensor& target, const std::vector<std::vector<Tensor>>& sources);

 private:
  void begin_gradient();
  // The tensors on the way from the sources, so that nothing is computed for the others.
  TensorSet dependents(const std::vector<std::vector<Tensor>>& sources) const;

  TapeOptions options_;
  std::optional<ScopedInterpreter> scope_;  // ends with the first gradient() of a tape that is not persistent
  bool paused_ = false;                     // while a persistent tape computes gradients
  bool used_ = false;
  std::vector<TapeRecord> records_;
  TensorSet tracked_;
  std::vector<Tensor> watched_;  // keeps the sources alive
  std::unordered_map<uint64_t, std::vector<Tensor>> readings_;
};

}  // namespace anyshape
