// The ledger as a table for people.
#include "base/amounts.h"

#include <anyshape/ledger.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape {
namespace {

std::string counted(int64_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

std::string results(const TraceRecord& record) {
  std::vector<std::string> texts;
  for (const TensorSpec& output : record.outputs) texts.push_back(to_string(output));
  return texts.size() == 1 ? texts[0] : fmt::format("({})", fmt::join(texts, ", "));
}

std::string sizes(const TraceRecord& record) {
  std::vector<std::string> texts;
  for (const SizesSeen& each : record.sizes) {
    texts.push_back(each.least == each.most ? fmt::format("{} {}", each.name, each.least)
                                            : fmt::format("{} {}..{}", each.name, each.least, each.most));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

constexpr size_t lines_shown = 10;

// What a trace holds, a line per owner: what no layer owns, then each layer with its path.
void add_held(std::string& text, const std::vector<std::string>& captured) {
  std::vector<std::pair<std::string, std::vector<std::string>>> owners{{"", {}}};
  for (const std::string& each : captured) {
    const size_t end = each.find(": "), slash = each.rfind('/', end);
    const bool is_owned = end != std::string::npos && slash != std::string::npos;
    const std::string owner = is_owned ? each.substr(0, slash) : "";
    const auto known = std::ranges::find(owners, owner, &std::pair<std::string, std::vector<std::string>>::first);
    auto& parts = known == owners.end() ? owners.emplace_back(owner, std::vector<std::string>()).second : known->second;
    parts.push_back(is_owned ? each.substr(slash + 1) : each);
  }
  if (owners[0].second.empty()) owners.erase(owners.begin());
  for (size_t i = 0; i < owners.size(); ++i) {
    auto& [owner, parts] = owners[i];
    const std::string_view label = i == 0 ? "holds" : "";
    if (i == lines_shown && owners.size() > lines_shown + 1) {
      text += fmt::format("         {:<11} and {} more\n", label, owners.size() - i);
      return;
    }
    if (parts.size() > lines_shown + 1) {
      const size_t left_out = parts.size() - lines_shown;
      parts.resize(lines_shown);
      parts.push_back(fmt::format("and {} more", left_out));
    }
    text += fmt::format("         {:<11} {}{}{}\n", label, owner, owner.empty() ? "" : "  ", fmt::join(parts, ", "));
  }
}

void add_trace(std::string& text, const TraceRecord& record) {
  text += fmt::format("  {:>5}  {:>7}  {:>8.1f}  {:>10.1f}  {:>10}  {} -> {}\n", record.number, record.calls, record.trace_ms,
                      record.compile_ms, bytes_text(record.code_bytes), record.signature, results(record));
  const auto line = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("         {:<11} {}\n", label, value);
  };
  line("because", record.reason);
  line("to avoid it", record.advice);
  line("sizes seen", sizes(record));
  line("data sizes", fmt::format("{}", fmt::join(record.data_sizes, ", ")));
  line("only for", fmt::format("{}", fmt::join(record.specialized, ", ")));
  add_held(text, record.captured);
  line("checks", fmt::format("{}", fmt::join(record.checks, "; ")));
  for (const FrozenValue& each : record.frozen) line("frozen", each.text);
}

}  // namespace

std::string to_text(const Ledger& ledger) {
  const FunctionStats& stats = ledger.stats;
  std::string text = fmt::format("function \"{}\": {}, {}, {}, {}; {:.1f} ms tracing, {:.1f} ms compiling, {} of code\n", ledger.name,
                                 counted(stats.traces, "trace"), counted(stats.compiles, "compile"), counted(stats.calls, "call"),
                                 counted(stats.hits, "hit"), stats.trace_ms, stats.compile_ms, bytes_text(stats.code_bytes));
  if (!ledger.traces.empty()) text += "  trace    calls  trace ms  compile ms        code  signature -> result\n";
  for (const TraceRecord& record : ledger.traces) add_trace(text, record);
  const auto note = [&](int64_t number, std::string_view what, std::string_view remark) {
    if (number > 0) text += fmt::format("  {} {}\n", counted(number, what), remark);
  };
  note(stats.casts, "argument", "cast to the signature's dtype");
  note(stats.copies, "argument", "with strides copied at entry");
  note(stats.failed_checks, "call", "refused by a size rule");
  note(stats.interpreted_groups, "group", "interpreted instead of compiled");
  note(stats.evictions, "trace", "evicted to stay within max_traces and max_code_bytes; the last:");
  const size_t shown = std::min<size_t>(ledger.evicted.size(), 3);
  for (size_t i = ledger.evicted.size() - shown; i < ledger.evicted.size(); ++i) text += "    " + ledger.evicted[i] + "\n";
  return text;
}

std::string report() {
  const std::vector<Ledger> ledgers = functions();
  if (ledgers.empty()) return "no functions\n";
  size_t width = std::string_view("function").size();
  for (const Ledger& each : ledgers) width = std::max(width, each.name.size());
  std::string text =
      fmt::format("{:<{}}  traces  compiles     calls      hits  evicted  trace ms  compile ms        code\n", "function", width);
  for (const Ledger& each : ledgers) {
    const FunctionStats& stats = each.stats;
    text += fmt::format("{:<{}}  {:>6}  {:>8}  {:>8}  {:>8}  {:>7}  {:>8.1f}  {:>10.1f}  {:>10}\n", each.name, width, stats.traces,
                        stats.compiles, stats.calls, stats.hits, stats.evictions, stats.trace_ms, stats.compile_ms,
                        bytes_text(stats.code_bytes));
  }
  return text;
}

}  // namespace anyshape
