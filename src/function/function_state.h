// What is behind a FunctionCore: options, traces, counters, and the phases of a call.
#pragma once
#include "function/flight.h"
#include "function/random_state.h"
#include "function/trace_cache.h"

#include <anyshape/function.h>

#include <atomic>
#include <optional>
#include <utility>

namespace anyshape {

using detail::FunctionCall;
using detail::FunctionCore;

namespace function_detail {

struct Counters {
  std::atomic<int64_t> calls{0}, hits{0}, casts{0}, copies{0}, failed_checks{0};
};

}  // namespace function_detail

struct FunctionCore::State {
  using Entry = function_detail::Entry;
  using Signature = function_detail::Signature;

  FunctionOptions options;
  std::optional<Signature> declared;
  function_detail::TraceCache cache{options.max_traces, options.max_code_bytes};
  function_detail::Flights flights{options.name};
  mutable function_detail::Counters counters;
  std::atomic<bool> has_told_frozen{false};  // one warning is enough

  explicit State(FunctionOptions given);
  using CastArgument = Tensor (*)(const Tensor& argument, Dtype dtype);
  // Throws for what the signature refuses; gives the number of casts.
  int64_t accept_arguments(std::vector<Tensor>& tensors, const FunctionCall& call, CastArgument cast_to) const;
  // A call with accepted arguments.
  FunctionResults serve(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call);
  // The trace for accepted arguments, and whether it was there; `values` become those of its symbols.
  std::pair<Entry, bool> find_or_make(std::span<const Tensor> tensors, const std::string& key, const FunctionCall& call,
                                      std::vector<int64_t>& values);
  // Runs a trace and commits its assignments. Calls that assign a variable in common follow one another; others run side by side. The caller is
  // inside a NoFork: a child finds no variable half written.
  std::vector<Tensor> run(const function_detail::TraceEntry& entry, std::vector<Tensor>&& tensors, std::span<const int64_t> values,
                          runtime::RandomState random) const;

 private:
  // Inside a NoFork, both.
  Entry find(std::span<const Tensor> tensors, const std::string& key, std::vector<int64_t>& values) const;
  FunctionResults run_counted(const function_detail::TraceEntry& entry, bool hit, std::vector<Tensor>&& tensors,
                              std::span<const int64_t> values);
  Entry make(std::span<const Tensor> tensors, const std::string& key, const FunctionCall& call);
  Signature signature_of(std::span<const Tensor> tensors, const std::string& key, std::span<const std::string> places) const;
  std::string flight_kind(std::span<const Tensor> tensors, const std::string& key) const;
  void warn(int64_t traces, const TraceRecord& last) const;
};

}  // namespace anyshape
