// The end of a call that assigns variables: all of them change, or none.
#pragma once
#include "function/trace_entry.h"
#include "graph/variable_set.h"

#include <span>

namespace anyshape::function_detail {

class Commit final : public runtime::VariableWriter {
 public:
  // `arguments` of the run, with the values of the trace's variables at their end. The run begins the commit where it updates in place.
  Commit(const TraceEntry& entry, std::span<const Tensor> arguments) : entry_(entry), arguments_(arguments), writing_(entry.assigned()) {}

  void begin() override { writing_.lock(); }
  bool may_write_over(int argument) override {
    return writing_.is_last_reader(entry_.assigned_by(argument), arguments_[static_cast<size_t>(argument)]);
  }
  // `values` are those of the assigned variables; afterwards those that were replaced.
  void finish(std::span<Tensor> values) {
    writing_.lock();
    writing_.swap(values);
    writing_.unlock();
  }

 private:
  const TraceEntry& entry_;
  std::span<const Tensor> arguments_;
  VariableSet::Writing writing_;
};

}  // namespace anyshape::function_detail
