// One trace in a function's cache: what calls it fits, and what runs them.
#pragma once
#include "function/argument_notes.h"
#include "function/compile.h"
#include "function/signature.h"
#include "function/taped_trace.h"
#include "function/tracer.h"
#include "graph/variable_set.h"
#include "shape/dim_program.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace anyshape::function_detail {

class TraceEntry {
 public:
  // `taped`: of a trace that is made under a tape.
  TraceEntry(std::string key, Signature signature, Trace trace, std::shared_ptr<const void> layout, Compiled compiled, TraceRecord record,
             std::shared_ptr<const TapedTrace> taped);

  const std::string& key() const { return key_; }
  const Signature& signature() const { return signature_; }
  int64_t number() const { return record_.number; }
  void set_number(int64_t number) { record_.number = number; }  // once, before it is shared
  const TraceRecord& made() const { return record_; }           // as it was made
  TraceRecord record() const;                                   // with what was seen since
  const Trace& trace() const { return trace_; }
  const std::shared_ptr<const TapedTrace>& taped() const { return taped_; }  // null for a trace that no tape follows
  const std::shared_ptr<const void>& layout() const { return layout_; }      // of the results; see FunctionResults
  const runtime::Executable& executable() const { return *compiled_.executable; }
  const CompileReport& report() const { return compiled_.report; }
  const VariableSet& variables() const { return variables_; }
  const VariableSet& assigned() const { return assigned_; }
  // The index among the assigned variables of one whose value is that argument of a run.
  size_t assigned_by(int argument) const { return assigned_by_[static_cast<size_t>(argument) - first_variable_]; }

  bool is_of_current_backend() const { return &executable().backend() == &runtime::current_backend(); }

  enum class Fit { Yes, No, Error };  // Error: a size rule of an op is broken
  // Whether the call fits; where its key and kinds do, fills `values` with those of the symbols.
  Fit fits(std::span<const Tensor> arguments, const std::string& key, std::vector<int64_t>& values) const;
  [[noreturn]] void throw_failed_check(const std::string& function, std::span<const int64_t> values) const;  // after Fit::Error
  const graph::Check* failed_retrace_check(std::span<const Tensor> arguments) const;  // why a call of the right kind does not fit

  void count_call(std::span<const int64_t> values, int64_t tick) const;  // `tick` grows from call to call
  int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  int64_t last_tick() const { return last_tick_.load(std::memory_order_relaxed); }

 private:
  struct EntryCheck {
    int a, b;  // slots
    const graph::Check* check;
  };
  const graph::Check* first_failing(std::span<const int64_t> values, bool retrace) const;

  std::string key_;
  Signature signature_;
  Trace trace_;
  std::shared_ptr<const void> layout_;
  Compiled compiled_;
  std::shared_ptr<const TapedTrace> taped_;
  TraceRecord record_;
  VariableSet variables_, assigned_;
  size_t first_variable_;            // among the graph's inputs
  std::vector<size_t> assigned_by_;  // per variable that is read
  DimProgram check_sizes_;
  std::vector<EntryCheck> checks_;
  mutable std::atomic<int64_t> calls_{0}, last_tick_{0};
  mutable std::vector<std::atomic<int64_t>> least_, most_;  // per symbol
};

// The outputs of a trace's graph that are new values of variables, with the inputs that are the old ones.
std::vector<lower::Update> updates_of(const Trace& trace);

// What a trace says of itself; cause, times and bytes are the caller's.
TraceRecord record_of(const Trace& trace, const Signature& signature);

}  // namespace anyshape::function_detail
