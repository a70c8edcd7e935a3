// Function::explain(): the trace that was called last on one screen, or every trace that is held in full.
#include "function/function_state.h"
#include "function/named_sizes.h"
#include "function/program_text.h"
#include "function/summary_text.h"
#include "runtime/peak_bytes.h"
#include "shape/dim_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape {

using function_detail::Entry;

namespace {

std::string sizes_text(const std::vector<NamedSize>& sizes) {
  std::vector<std::string> texts;
  for (const NamedSize& size : sizes) texts.push_back(fmt::format("{} = {}", size.name, size.value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::shared_ptr<const function_detail::TapedPart::Backward>> backward_parts(const function_detail::TraceEntry& entry) {
  if (entry.taped() == nullptr) return {};
  return entry.taped()->backwards();
}

std::string head_of(const std::string& name, const Entry& entry) {
  return fmt::format("function \"{}\", trace {}: {}", name, entry->number(), entry->signature().to_string());
}

// The largest sizes that calls had, where none is given.
std::string short_text(const std::string& name, const std::vector<Entry>& entries, const std::vector<NamedSize>& given,
                       const function_detail::NamedSizes& named) {
  const Entry& last =
      *std::ranges::max_element(entries, {}, [](const Entry& entry) { return std::pair(entry->last_tick(), entry->number()); });
  Substitution known = named.of(last->signature());
  std::vector<NamedSize> seen;
  const std::vector<SizesSeen> ranges = last->record().sizes;
  for (const Dim& symbol : last->signature().symbols()) {
    const auto range = std::ranges::find(ranges, to_string(symbol), &SizesSeen::name);
    if (range == ranges.end() || !known.try_emplace(as_symbol(symbol)->id, range->most).second) continue;
    seen.push_back({range->name, range->most});
  }
  std::string text = head_of(name, last) + "\n";
  if (!given.empty()) text += fmt::format("  at {}\n", sizes_text(given));
  if (!seen.empty()) text += fmt::format("  at {}, the largest seen\n", sizes_text(seen));
  text += function_detail::summarize(last->executable(), known);
  for (const auto& part : backward_parts(*last)) {
    text += fmt::format("\n  backward part: {}\n{}", part->words, function_detail::summarize(*part->compiled.executable, known));
  }
  if (entries.size() > 1) text += fmt::format("\n  {} more trace{}\n", entries.size() - 1, entries.size() == 2 ? "" : "s");
  return text + "\n  more: explain({.detail = Detail::Full})" + (last->executable().times().is_on() ? "\n" : "; times: ANYSHAPE_TIMES=1\n");
}

std::string full_text(const std::string& name, const std::vector<Entry>& entries, const std::vector<NamedSize>& given,
                      const function_detail::NamedSizes& named) {
  std::string text;
  for (const Entry& entry : entries) {
    text += fmt::format("{}{}{}{}\n", text.empty() ? "" : "\n", head_of(name, entry), given.empty() ? "" : " at ", sizes_text(given));
    const runtime::Executable& executable = entry->executable();
    text += function_detail::explain_program(executable.program(), entry->report(), runtime::peak_of(executable).arena,
                                             named.of(entry->signature()));
    for (const auto& part : backward_parts(*entry)) {
      const runtime::Executable& backward = *part->compiled.executable;
      text += fmt::format("\nbackward part of trace {}: {}\n{}", entry->number(), part->words,
                          function_detail::explain_program(backward.program(), part->compiled.report, runtime::peak_of(backward).arena,
                                                           named.of(entry->signature())));
    }
  }
  return text;
}

}  // namespace

std::string FunctionCore::explain(const ExplainOptions& options) const {
  const std::vector<Entry> entries = state_->cache.entries();
  const std::string& name = state_->options.name;
  if (entries.empty()) return fmt::format("function \"{}\": no trace yet; the first call makes one\n", name);
  const function_detail::NamedSizes named(name, "explain", entries, options.sizes);
  return (options.detail == Detail::Full ? full_text : short_text)(name, entries, options.sizes, named);
}

}  // namespace anyshape
