// Small, different and large values, as far as the symbols' ranges allow.
#include "shape/sample_signs.h"

#include "shape/dim_node.h"
#include "shape/evaluate.h"

#include <anyshape/error.h>

#include <algorithm>
#include <array>
#include <optional>

namespace anyshape {
namespace {

bool has_bcast(const Dim& dim) {
  if (dim.is_constant()) return false;
  return std::ranges::any_of(dim.node()->terms, [](const Term& term) {
    return std::ranges::any_of(term.factors, [](const Factor& factor) {
      return factor.atom->kind == AtomKind::Bcast || std::ranges::any_of(factor.atom->operands, has_bcast);
    });
  });
}

// The greatest value up to `wanted` that the symbol can have, else its least.
std::optional<int64_t> nearest(const DimOptions& options, int64_t wanted) {
  const int64_t multiple = options.multiple_of, highest = std::min(wanted, options.max);
  const int64_t value = highest - highest % multiple;
  if (value >= options.min) return value;
  const int64_t least = options.min % multiple == 0 ? options.min : options.min - options.min % multiple + multiple;
  return least <= options.max ? std::optional(least) : std::nullopt;
}

}  // namespace

Signs sample_signs(const Dim& dim) {
  Signs seen;
  if (dim.is_constant() || has_bcast(dim)) return seen;
  // The k-th symbol to be met gets the k-th number, in turn.
  constexpr std::array<std::array<int64_t, 5>, 4> samples = {
      {{0, 0, 0, 0, 0}, {1, 3, 2, 7, 5}, {1000, 2, 30, 1, 300}, {3, 2000, 1, 90, 8}}};
  for (const std::array<int64_t, 5>& sample : samples) {
    Bindings values;
    size_t next = 0;
    bool is_possible = true;
    for_each_symbol(dim, [&](const Symbol& symbol) {
      if (values.find(symbol.id)) return;
      const std::optional<int64_t> value = nearest(symbol.options, sample[next++ % sample.size()]);
      is_possible = is_possible && value;
      values.set(symbol.id, value.value_or(0));
    });
    if (!is_possible) continue;
    try {
      const int64_t value = evaluate(dim, values);
      (value < 0 ? seen.negative : value == 0 ? seen.zero : seen.positive) = true;
    } catch (const ShapeError&) {  // too large, or divided by zero: no such sizes
    }
  }
  return seen;
}

}  // namespace anyshape
