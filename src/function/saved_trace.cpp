// A call of a function from a file that no compiled trace fits: one of the file's is compiled, or the call is refused.
#include "function/saved_trace.h"

#include "function/function_state.h"
#include "graph/check.h"
#include "graph/regions.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {

using function_detail::SavedTrace;

namespace {

bool holds(const SizeCheck& check, const Bindings& sizes) {
  try {
    return check.holds(sizes);
  } catch (const ShapeError&) {
    return false;  // a side has no value for these sizes
  }
}

Bindings sizes_of(const function_detail::Signature& signature, std::span<const Tensor> tensors) {
  std::vector<int64_t> values;
  signature.bind(tensors, values);
  return signature.bindings(values);
}

std::string described(std::span<const Tensor> tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) text += (text.empty() ? "" : ", ") + describe(tensor);
  return text;
}

}  // namespace

bool SavedTrace::fits(std::span<const Tensor> tensors) const {
  if (!signature.fits_kinds(tensors) || !signature.fits_known(tensors)) return false;
  const Bindings sizes = sizes_of(signature, tensors);
  return std::ranges::all_of(trace.graph->checks, [&](const graph::Check& check) { return !check.retrace || holds(check.check, sizes); });
}

std::string SavedTrace::to_string() const {
  std::string text = signature.to_string();
  for (size_t i = 0; i < values.size(); ++i) text += fmt::format("{}{} = {}", i == 0 ? " with " : ", ", values[i].name, values[i].value);
  for (const graph::Check& check : trace.graph->checks) {
    if (check.retrace) text += fmt::format(", for {}", anyshape::to_string(check.check));
  }
  return text;
}

std::string function_detail::list_of(const SavedTraces& traces) {
  constexpr size_t listed = 20;
  std::string text;
  for (size_t i = 0; i < std::min(traces.size(), listed); ++i) text += fmt::format("\n  trace {}: {}", i, traces[i].to_string());
  if (traces.size() > listed) text += fmt::format("\n  and {} more", traces.size() - listed);
  return text;
}

FunctionCore::State::Entry FunctionCore::State::make_saved(std::span<const Tensor> tensors, const std::string& key,
                                                           const FunctionCall& call) {
  const auto found = std::ranges::find_if(*saved, [&](const SavedTrace& each) { return each.key == key && each.fits(tensors); });
  if (found == saved->end()) {
    const std::string values = key.empty() ? "" : " with " + key;
    throw SignatureError(fmt::format(
        "function \"{}\": no trace of its file fits the arguments ({}){}; expected those of one of them, for the C++ that would "
        "be traced again is not in the file. Change the call, or call the function so before it is saved. The file has:{}",
        options.name, described(tensors), values, function_detail::list_of(*saved)));
  }
  const Bindings sizes = sizes_of(found->signature, tensors);
  for (const graph::Check& check : found->trace.graph->checks) {
    if (check.retrace || check.after != nullptr || holds(check.check, sizes)) continue;
    counters.failed_checks.fetch_add(1, std::memory_order_relaxed);
    graph::throw_failed(check, sizes, options.name);
  }
  function_detail::Trace trace = found->trace;
  trace.graph = graph::clone(*found->trace.graph);
  TraceRecord record = function_detail::record_of(trace, found->signature);
  record.reason = fmt::format("trace {} of its file", found - saved->begin());
  record.values = found->values;
  function_detail::Compiled compiled =
      function_detail::compile(*trace.graph, found->signature.symbols(), function_detail::updates_of(trace));
  record.compile_ms = compiled.milliseconds;
  record.code_bytes = compiled.code_bytes;
  auto entry = std::make_shared<function_detail::TraceEntry>(call.key(), found->signature, std::move(trace), nullptr, std::move(compiled),
                                                             std::move(record), nullptr);
  cache.add(entry);
  return entry;
}

}  // namespace anyshape
