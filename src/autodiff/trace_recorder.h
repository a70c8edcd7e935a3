// The tape of a trace that is differentiated: it stands in front of the trace, and writes down every call, those of its own gradients, too. So
// gradients can be asked for when the trace is long made, of any of its tensors, and gradients of gradients.
#pragma once
#include "autodiff/call_records.h"
#include "graph/bind.h"
#include "graph/stateful.h"

#include <optional>
#include <span>
#include <unordered_map>

namespace anyshape {

class TraceRecorder final : public Interpreter {
 public:
  // In front while it lives. `twice`: what is recorded will itself be asked for gradients, and ops save what these need.
  class Recording {
   public:
    Recording(TraceRecorder& recorder, bool twice) : recorder_(recorder) {
      recorder_.twice_ = twice;
      recorder_.scope_.emplace(recorder_);
    }
    ~Recording() { recorder_.scope_.reset(); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

   private:
    TraceRecorder& recorder_;
  };

  std::vector<Tensor> run(const BoundCall& call) override;
  void on_read(const VariableState& variable, const Tensor& tensor) override;
  bool records() const override { return twice_; }
  Interpreter& unrecorded() override { return scope_->outer().unrecorded(); }
  void follow(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs) override;
  const Facts* facts() const override { return scope_->outer().facts(); }
  void require_own(std::string_view op, const Tensor& tensor) const override { scope_->outer().require_own(op, tensor); }

  std::vector<Tensor> given_by(const VariableState& variable) const;  // what reading it gave
  std::vector<Tensor> taken_from_outside() const;                     // of floating dtypes, each once

  TensorSet dependents(std::span<const std::vector<Tensor>> sources) const { return records_.dependents(sources); }
  // As CallRecords::gradient; what that calls is recorded behind the rest.
  std::vector<std::optional<Tensor>> gradient(std::span<const Tensor> targets, std::span<const Tensor> seeds,
                                              std::span<const std::vector<Tensor>> sources) const;

 private:
  void record(const OpDef& op, std::span<const Tensor> inputs, const Attrs& attrs, std::span<const Tensor> outputs);

  std::optional<ScopedInterpreter> scope_;
  bool twice_ = false;
  CallRecords records_;
  std::unordered_map<uint64_t, std::vector<Tensor>> readings_;
};

}  // namespace anyshape
