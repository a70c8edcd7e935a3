// What is behind a FunctionCore: options, traces, counters, and the phases of a call.
#pragma once
#include "function/flight.h"
#include "function/random_state.h"
#include "function/saved_trace.h"
#include "function/trace_cache.h"

#include <anyshape/function.h>

#include <atomic>
#include <optional>
#include <set>
#include <utility>

namespace anyshape {

using detail::FunctionCall;
using detail::FunctionCore;

namespace function_detail {

struct Counters {
  std::atomic<int64_t> calls{0}, hits{0}, casts{0}, copies{0}, failed_checks{0};
};

}  // namespace function_detail

namespace function_detail {

// The key of a call under tapes: what they follow of the arguments is part of it.
std::string key_under_tapes(const std::string& key, std::span<const Tensor> tensors);

}  // namespace function_detail

struct FunctionCore::State {
  using Entry = function_detail::Entry;
  using Signature = function_detail::Signature;

  FunctionOptions options;
  std::optional<Signature> declared;
  function_detail::TraceCache cache{options.max_traces, options.max_code_bytes};
  function_detail::Flights flights{options.name};
  mutable function_detail::Counters counters;
  std::atomic<bool> has_told_frozen{false};                        // one warning is enough
  std::shared_ptr<const function_detail::SavedTraces> saved = {};  // of a function from a file, which traces nothing else

  explicit State(FunctionOptions given);
  using CastArgument = Tensor (*)(const Tensor& argument, Dtype dtype);
  // Throws for what the signature refuses; gives the number of casts.
  int64_t accept_arguments(std::vector<Tensor>& tensors, const FunctionCall& call, CastArgument cast_to) const;
  // A call with accepted arguments, and one that tapes watch.
  FunctionResults serve(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call);
  FunctionResults serve_under_tapes(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call);
  // The trace for accepted arguments, and whether it was there; `values` become those of its symbols.
  std::pair<Entry, bool> find_or_make(std::span<const Tensor> tensors, const std::string& key, const FunctionCall& call,
                                      std::vector<int64_t>& values, bool is_taped);
  // Runs a trace and commits its assignments. Calls that assign a variable in common follow one another; others run side by side. The caller is
  // inside a NoFork: a child finds no variable half written.
  std::vector<Tensor> run(const function_detail::TraceEntry& entry, std::vector<Tensor>&& tensors, std::span<const int64_t> values,
                          runtime::RandomState random) const;

  // Where nothing was traced yet: a trace of arguments that the signature takes; verify.cpp. It throws what the last of a few tries threw.
  void trace_by_signature(const FunctionCall& call);

  FunctionResults run_op_by_op(std::span<const Tensor> tensors, const FunctionCall& call) const;

  // Under tapes; call_under_tapes.cpp. A trace that runs as it is, because the tapes follow nothing of it.
  Entry find_unfollowed(std::span<const Tensor> tensors, const std::string& key, std::vector<int64_t>& values) const;
  // Whether calls like this one run op by op, because their gradients cannot be compiled.
  bool is_op_by_op(std::span<const Tensor> tensors, const std::string& key) const;

 private:
  // Inside a NoFork, both.
  Entry find(std::span<const Tensor> tensors, const std::string& key, std::vector<int64_t>& values) const;
  FunctionResults run_counted(const function_detail::TraceEntry& entry, bool hit, std::vector<Tensor>&& tensors,
                              std::span<const int64_t> values);
  Entry make(std::span<const Tensor> tensors, const std::string& key, const FunctionCall& call, bool is_taped);
  Entry make_saved(std::span<const Tensor> tensors, const std::string& key, const FunctionCall& call);  // saved_trace.cpp
  Signature signature_of(std::span<const Tensor> tensors, const std::string& key, std::span<const std::string> places) const;
  std::string flight_kind(std::span<const Tensor> tensors, const std::string& key) const;
  // Makes the trace the forward part of what the tapes follow; false where that has no gradient that can be compiled.
  bool differentiate(function_detail::TapedTrace& taped, function_detail::Trace& trace, std::span<const Tensor> tensors,
                     const std::string& key);

  mutable ForkMutex op_by_op_mutex_;
  std::set<std::string> op_by_op_;  // kinds of calls
  void warn(int64_t traces, const TraceRecord& last) const;
};

}  // namespace anyshape
