// min, max and bcast of sizes: operands are flattened, sorted and thinned by what can be proved about them.
#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "shape/dim_node.h"
#include "shape/normal_form.h"
#include "shape/prove.h"

namespace anyshape {
namespace {

// Every pair is compared, so a hostile text must not bring thousands.
constexpr size_t max_operands = 32;

std::vector<Dim> flatten(AtomKind kind, const Dim& a, const Dim& b) {
  std::vector<Dim> operands;
  for (const Dim* dim : {&a, &b}) {
    require_size(*dim);
    const Atom* atom = as_atom(*dim);
    if (atom != nullptr && atom->kind == kind)
      operands.insert(operands.end(), atom->operands.begin(), atom->operands.end());
    else
      operands.push_back(*dim);
  }
  std::sort(operands.begin(), operands.end(), [](const Dim& x, const Dim& y) { return compare_structure(x, y) > 0; });
  operands.erase(std::unique(operands.begin(), operands.end(), DimSame{}), operands.end());
  if (operands.size() > max_operands) {
    throw ShapeError(fmt::format("size expression is too large: {} operands of one min, max or bcast; expected at most {}.",
                                 operands.size(), max_operands));
  }
  return operands;
}

// Keeps the operands that no other one makes superfluous; `covers(x, y)`: with x there, y is not needed.
template <class Covers>
Dim extreme(AtomKind kind, const Dim& a, const Dim& b, const Covers& covers) {
  std::vector<Dim> kept;
  for (const Dim& operand : flatten(kind, a, b)) {
    if (std::any_of(kept.begin(), kept.end(), [&](const Dim& other) { return covers(other, operand); })) continue;
    std::erase_if(kept, [&](const Dim& other) { return covers(operand, other); });
    kept.push_back(operand);
  }
  return kept.size() == 1 ? kept.front() : make_atom(kind, std::move(kept));
}

}  // namespace

Dim min(const Dim& a, const Dim& b) {
  return extreme(AtomKind::Min, a, b, [](const Dim& x, const Dim& y) { return proves_less_equal(x, y) == true; });
}

Dim max(const Dim& a, const Dim& b) {
  return extreme(AtomKind::Max, a, b, [](const Dim& x, const Dim& y) { return proves_less_equal(y, x) == true; });
}

// Operands are 1 or agree: one that is never 1 is therefore the result, whatever the others are.
Dim bcast(const Dim& a, const Dim& b) {
  std::vector<Dim> operands = flatten(AtomKind::Bcast, a, b);
  std::erase_if(operands, [](const Dim& dim) { return dim.is_constant() && dim.value() == 1; });
  if (operands.empty()) return 1;
  if (operands.back().is_constant()) return operands.back();  // constants sort last
  for (const Dim& operand : operands) {
    if (proves_equal(operand, 1) == false) return operand;
  }
  std::erase_if(operands, [](const Dim& dim) { return proves_equal(dim, 1) == true; });
  if (operands.empty()) return 1;
  return operands.size() == 1 ? operands.front() : make_atom(AtomKind::Bcast, std::move(operands));
}

}  // namespace anyshape
