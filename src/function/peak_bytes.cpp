// peak_bytes(): what a call would take, asked by the names of sizes.
#include "base/near_names.h"
#include "function/function_state.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape {
namespace {

using function_detail::Entry;
using function_detail::Signature;

std::vector<std::string> names_of(const Signature& signature) {
  std::vector<std::string> names;
  for (const Dim& symbol : signature.symbols()) names.push_back(to_string(symbol));
  return names;
}

// In the order of the signature's symbols.
std::vector<int64_t> values_of(const Signature& signature, const std::vector<NamedSize>& sizes, const std::string& function) {
  const std::vector<std::string> names = names_of(signature);
  const auto refuse = [&](const std::string& what) {
    throw ArgumentError(fmt::format("function \"{}\": peak_bytes: {} The trace is {}.", function, what, signature.to_string()));
  };
  std::vector<std::optional<int64_t>> values(names.size());
  for (const NamedSize& each : sizes) {
    const auto found = std::ranges::find(names, each.name);
    if (found == names.end())
      refuse(names.empty() ? fmt::format("\"{}\" is no size; expected none: all are numbers.", each.name)
                           : unknown_name("size", each.name, names));
    std::optional<int64_t>& value = values[static_cast<size_t>(found - names.begin())];
    if (each.value < 0) refuse(fmt::format("\"{}\" is {}; expected a size of 0 or more.", each.name, each.value));
    if (value) refuse(fmt::format("\"{}\" is given twice; expected one size for each name.", each.name));
    value = each.value;
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!values[i]) missing.push_back(fmt::format("\"{}\"", names[i]));
  }
  if (!missing.empty()) {
    std::vector<std::string> wanted;
    for (const std::string& name : names) wanted.push_back(fmt::format("{{\"{}\", ...}}", name));
    refuse(fmt::format("no size is given for {}; expected peak_bytes({{{}}}).", fmt::join(missing, ", "), fmt::join(wanted, ", ")));
  }
  std::vector<int64_t> result;
  for (const std::optional<int64_t>& value : values) result.push_back(*value);
  return result;
}

// The one that was called last.
Entry last_called(const function_detail::TraceCache& cache, const std::string& function, std::string_view asked) {
  const std::vector<Entry> entries = cache.entries();
  if (entries.empty()) {
    throw ArgumentError(fmt::format(
        "function \"{}\": {}: it has no trace; expected at least one call before, which tells what it computes.", function, asked));
  }
  return *std::ranges::max_element(entries, {}, [](const Entry& entry) { return std::pair(entry->last_tick(), entry->number()); });
}

}  // namespace

int64_t FunctionCore::peak_bytes(const std::vector<NamedSize>& sizes) const {
  const Entry entry = last_called(state_->cache, state_->options.name, "peak_bytes");
  return entry->executable().peak_bytes(values_of(entry->signature(), sizes, state_->options.name));
}

std::string FunctionCore::peak_formula() const {
  const Entry entry = last_called(state_->cache, state_->options.name, "peak_formula");
  const runtime::Executable::Peak peak = entry->executable().peak();
  return fmt::format("results {}, values on the way {}", to_string(peak.results), to_string(peak.arena));
}

}  // namespace anyshape
