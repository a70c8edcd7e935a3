// peak_bytes(): what a call would take, asked by the names of sizes.
#include "runtime/peak_bytes.h"
#include "function/function_state.h"
#include "function/named_sizes.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

using function_detail::Entry;

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
  const std::vector<Entry> last = {last_called(state_->cache, state_->options.name, "peak_bytes")};
  const function_detail::NamedSizes known(state_->options.name, "peak_bytes", last, sizes);
  return runtime::peak_bytes(last[0]->executable(), known.all_of(last[0]->signature()));
}

std::string FunctionCore::peak_formula() const {
  const Entry entry = last_called(state_->cache, state_->options.name, "peak_formula");
  const runtime::Peak peak = runtime::peak_of(entry->executable());
  return fmt::format("results {}, arena {}", to_string(peak.results), to_string(peak.arena));
}

}  // namespace anyshape
