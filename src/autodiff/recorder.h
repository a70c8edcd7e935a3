// The recording interpreter behind GradientTape: forwards every call to the interpreter it stands in front of and writes down those that
// depend on something tracked.
#pragma once
#include "autodiff/call_records.h"
#include "graph/bind.h"
#include "graph/stateful.h"

#include <anyshape/gradient.h>

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace anyshape {

class GradientTape::Recorder final : public Interpreter {
 public:
  explicit Recorder(TapeOptions options) : options_(options) { scope_.emplace(*this); }

  std::vector<Tensor> run(const BoundCall& call) override;
  void on_read(const VariableState& variable, const Tensor& tensor) override;
  bool records() const override { return pauses_ == 0 || scope_->outer().records(); }
  bool tracks(const Tensor& tensor) const override {
    return (pauses_ == 0 && tracked_.find(tensor.impl().get())) || scope_->outer().tracks(tensor);
  }
  bool tracks(const VariableState& variable) const override {
    return (pauses_ == 0 && follows(variable)) || scope_->outer().tracks(variable);
  }
  Interpreter& unrecorded() override { return scope_->outer().unrecorded(); }
  void follow(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) override;
  const Facts* facts() const override { return scope_->outer().facts(); }
  void require_own(std::string_view op, const Tensor& tensor) const override { scope_->outer().require_own(op, tensor); }

  void watch(const Tensor& tensor);
  void watch(const Variable& variable);
  void end() { scope_.reset(); }  // nothing is recorded any more
  void begin_pause() { ++pauses_, was_paused_ = true; }
  void end_pause() { --pauses_; }

  // What reading it gave, in order; none where it was not read under the tape.
  std::vector<Tensor> given_by(const Variable& variable) const;
  bool follows(const VariableState& variable) const;
  const std::vector<WatchedVariable>& read_variables() const { return read_variables_; }
  std::string advice() const;  // what else may keep a target from a source

  // For each source (one tensor or several that count as one) the gradient of all targets, or nothing where none depends on it. Seeds are
  // the gradients of the targets; none: ones. `through_flat`: as CallRecords has it.
  std::vector<std::optional<Tensor>> gradient(std::span<const Tensor> targets, std::span<const Tensor> seeds,
                                              const std::vector<std::vector<Tensor>>& sources, bool through_flat);

 private:
  void begin_gradient();
  void record(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs);

  TapeOptions options_;
  std::optional<ScopedInterpreter> scope_;  // ends with the first gradient() of a tape that is not persistent
  int pauses_ = 0;                          // the user's, and while a persistent tape computes gradients
  bool was_paused_ = false;
  bool used_ = false;

  CallRecords records_;
  TensorSet tracked_;
  std::vector<Tensor> watched_;  // keeps the sources alive
  std::unordered_set<uint64_t> watched_variables_;
  std::unordered_map<uint64_t, std::vector<Tensor>> readings_;
  std::vector<WatchedVariable> read_variables_;  // those of the readings, in order
};

}  // namespace anyshape
