// min, max and bcast of sizes: operands are flattened, sorted and thinned by what can be proved about them.
#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "shape/dim_node.h"
#include "shape/normal_form.h"
#include "shape/prove.h"

namespace anyshape {
namespace {

// Of min and max every pair is compared, so a hostile text must not bring thousands.
constexpr size_t max_operands = 32;
// Operands that one sum may become: max(max(n, 2) + max(m, 2), k) with four sums instead of two is no simpler.
constexpr size_t most_from_one = 8;

void sort_and_unite(std::vector<Dim>& operands) {
  std::sort(operands.begin(), operands.end(), [](const Dim& x, const Dim& y) { return compare_structure(x, y) > 0; });
  operands.erase(std::unique(operands.begin(), operands.end(), DimSame{}), operands.end());
}

// What a factor of a sum's term is as a whole: c * max(p, q) with c > 0, or c * min(p, q) with c < 0, is a max. Null where the term is neither.
const Atom* extreme_in(const Term& term, AtomKind kind) {
  if (term.factors.size() != 1 || term.factors[0].power != 1) return nullptr;
  const Atom& atom = *term.factors[0].atom;
  const AtomKind opposite = kind == AtomKind::Min ? AtomKind::Max : AtomKind::Min;
  return atom.kind == (term.coefficient > 0 ? kind : opposite) ? &atom : nullptr;
}

// The operands whose min or max a sum is: max(p, q) + r is the max of p + r and q + r. The sum itself where it is none, or that of many.
std::vector<Dim> operands_of(AtomKind kind, const Dim& sum) {
  if (sum.is_constant()) return {sum};
  if (const Atom* const atom = as_atom(sum); atom != nullptr && atom->kind == kind) return atom->operands;
  std::vector<Term> spread, rest;
  size_t count = 1;
  for (const Term& term : sum.node()->terms) {
    const Atom* const atom = extreme_in(term, kind);
    (atom == nullptr ? rest : spread).push_back(term);
    count *= atom == nullptr ? 1 : atom->operands.size();
    if (count > most_from_one) return {sum};
  }
  if (spread.empty()) return {sum};
  std::vector<Dim> found = {make_sum(std::move(rest), constant_of(sum))};
  for (const Term& term : spread) {
    std::vector<Dim> next;
    for (const Dim& each : found) {
      for (const Dim& operand : term.factors[0].atom->operands) next.push_back(each + Dim(term.coefficient) * operand);
    }
    found = std::move(next);
  }
  return found;
}

// Keeps the operands that no other one makes superfluous; `covers(x, y)`: with x there, y is not needed.
template <class Covers>
Dim extreme(AtomKind kind, const Dim& a, const Dim& b, const Covers& covers) {
  require_size(a);
  require_size(b);
  std::vector<Dim> operands = operands_of(kind, a), more = operands_of(kind, b), kept;
  operands.insert(operands.end(), more.begin(), more.end());
  sort_and_unite(operands);
  if (operands.size() > max_operands)
    throw_too_large(fmt::format("{} operands of one min or max; expected at most {}", operands.size(), max_operands));
  for (const Dim& operand : operands) {
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

// Operands are 1 or agree: one that is never 1 is therefore the result, whatever the others are. Those of a bcast have been looked at when it was
// made, so that any number of sizes is put together one by one.
Dim bcast(const Dim& a, const Dim& b) {
  std::vector<Dim> operands, never_one;
  for (const Dim* dim : {&a, &b}) {
    require_size(*dim);
    const Atom* const atom = as_atom(*dim);
    if (atom != nullptr && atom->kind == AtomKind::Bcast) {
      operands.insert(operands.end(), atom->operands.begin(), atom->operands.end());
    } else if (const std::optional<bool> is_one = proves_equal(*dim, 1); is_one != true) {
      (is_one == false ? never_one : operands).push_back(*dim);
    }
  }
  sort_and_unite(never_one);
  if (!never_one.empty()) return never_one.back().is_constant() ? never_one.back() : never_one.front();  // constants sort last
  sort_and_unite(operands);
  if (operands.empty()) return 1;
  return operands.size() == 1 ? operands.front() : make_atom(AtomKind::Bcast, std::move(operands));
}

}  // namespace anyshape
