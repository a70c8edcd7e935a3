// Which sizes of a call a new trace takes as numbers.
#include "function/known_sizes.h"

#include <algorithm>

namespace anyshape::function_detail {
namespace {

// Symbols that are numbers in the entry and other numbers in the call.
int changed_sizes(const TraceEntry& entry, std::span<const int64_t> values) {
  const Signature::KnownSizes& known = entry.signature().known();
  int changed = 0;
  for (size_t i = 0; i < known.size(); ++i) changed += known[i] && *known[i] != values[i] ? 1 : 0;
  return changed;
}

}  // namespace

Signature::KnownSizes known_sizes(Shapes shapes, std::span<const int64_t> values, const TraceCache& cache,
                                  std::span<const Tensor> arguments, const std::string& key) {
  Signature::KnownSizes sizes(values.size());
  if (shapes == Shapes::Symbolic) return sizes;
  std::ranges::copy(values, sizes.begin());
  if (shapes == Shapes::Exact) return sizes;
  // Relax: what the nearest trace of this kind knows and this call agrees with stays a number. The later of two is the more general one.
  const TraceEntry* nearest = nullptr;
  const std::vector<Entry> entries = cache.entries();
  for (const Entry& entry : entries) {
    if (entry->key() != key || !entry->signature().fits_kinds(arguments)) continue;
    if (nearest == nullptr || changed_sizes(*entry, values) <= changed_sizes(*nearest, values)) nearest = entry.get();
  }
  if (nearest == nullptr) return sizes;
  const Signature::KnownSizes& known = nearest->signature().known();
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!known[i] || *known[i] != values[i]) sizes[i].reset();
  }
  return sizes;
}

}  // namespace anyshape::function_detail
