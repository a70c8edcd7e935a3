// Reasons and reports.
#include "function/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

namespace anyshape::function_detail {
namespace {

// What separates a call from one trace, each with a cure.
std::vector<std::string> differences(const TraceEntry& entry, std::span<const Tensor> arguments,
                                     const structure::Description& description) {
  std::vector<std::string> found;
  const Signature& signature = entry.signature();
  for (const structure::Change& change : structure::changes(entry.record().values, description.parts)) {
    const std::string_view cure = change.role == structure::Role::Number      ? "Pass a number that varies as a tensor"
                                  : change.role == structure::Role::Structure ? "Another structure is another trace"
                                                                              : "Another object or text is another trace";
    found.push_back(fmt::format("{}. {}", change.text, cure));
  }
  if (signature.specs().size() != arguments.size()) return found;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TensorSpec& spec = signature.specs()[i];
    const std::string change =
        fmt::format("{}: {} became {}", signature.argument_name(i, description.tensors[i]), to_string(spec), describe(arguments[i]));
    if (arguments[i].rank() != spec.shape.rank())
      found.push_back(change + ". Another rank is another trace: reshape it, or use a second function");
    else if (arguments[i].dtype() != spec.dtype)
      found.push_back(change + ". Another dtype is another trace: cast it, or declare a signature with .dtypes = as::DtypePolicy::Cast");
  }
  if (!found.empty()) return found;
  if (const graph::Check* check = entry.failed_retrace_check(arguments)) {
    found.push_back(
        fmt::format("{}: {} no longer holds. Remove the comparison, or accept one trace per outcome", check->op, to_string(check->check)));
  }
  return found;
}

std::string counted(int64_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

}  // namespace

std::string explain(std::span<const std::shared_ptr<const TraceEntry>> earlier, std::span<const Tensor> arguments,
                    const structure::Description& description) {
  if (earlier.empty()) return "first call";
  std::vector<std::string> least;
  size_t nearest = 0;
  for (size_t i = 0; i < earlier.size(); ++i) {
    std::vector<std::string> found = differences(*earlier[i], arguments, description);
    if (i > 0 && found.size() >= least.size()) continue;
    least = std::move(found);
    nearest = i;
  }
  return fmt::format("{}. Nearest is trace {}.", fmt::join(least, "; "), nearest);
}

std::string report(const std::string& name, const FunctionStats& stats, std::span<const std::shared_ptr<const TraceEntry>> entries) {
  std::string text = fmt::format("function \"{}\": {}, {}, {} ({}), {:.1f} ms tracing and compiling, {} bytes of code\n", name,
                                 counted(stats.traces, "trace"), counted(stats.compiles, "compile"), counted(stats.calls, "call"),
                                 counted(stats.hits, "hit"), stats.trace_ms + stats.compile_ms, stats.code_bytes);
  auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("    {:<9} {}\n", label, value);
  };
  for (size_t i = 0; i < entries.size(); ++i) {
    const TraceRecord& record = entries[i]->record();
    std::vector<std::string> outputs;
    for (const TensorSpec& output : record.outputs) outputs.push_back(to_string(output));
    text += fmt::format("  trace {}: {} -> {}\n", i, record.signature,
                        outputs.size() == 1 ? outputs[0] : fmt::format("({})", fmt::join(outputs, ", ")));
    line("because", record.reason);
    line("cost", fmt::format("traced in {:.1f} ms, compiled in {:.1f} ms, {} bytes of code", record.trace_ms, record.compile_ms,
                             record.code_bytes));
    line("calls", fmt::format("{}{}", entries[i]->calls(), entries[i]->sizes_seen().empty() ? "" : " with " + entries[i]->sizes_seen()));
    line("holds", fmt::format("{}", fmt::join(record.captured, ", ")));
    line("checks", fmt::format("{}", fmt::join(record.checks, "; ")));
  }
  auto note = [&](int64_t number, std::string_view what, std::string_view remark) {
    if (number > 0) text += fmt::format("  {} {}\n", counted(number, what), remark);
  };
  note(stats.casts, "argument", "cast to the signature's dtype");
  note(stats.copies, "argument", "with strides copied at entry");
  note(stats.failed_checks, "call", "refused by a size rule");
  note(stats.interpreted_groups, "group", "interpreted instead of compiled");
  return text;
}

}  // namespace anyshape::function_detail
