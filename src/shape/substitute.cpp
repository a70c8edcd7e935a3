// Substitution rebuilds an expression with the operators, so that the result is in normal form again.
#include "shape/substitute.h"

#include <algorithm>

#include "shape/dim_node.h"
#include "shape/normal_form.h"

namespace anyshape {
namespace {

Dim substitute_atom(const Factor& factor, const Substitution& symbols) {
  const Atom& atom = *factor.atom;
  if (atom.kind == AtomKind::Symbol) {
    const auto found = symbols.find(atom.symbol.id);
    return found != symbols.end() ? found->second : make_sum({Term{1, {Factor{factor.atom, 1}}}}, 0);
  }
  Dim result = substitute(atom.operands[0], symbols);
  for (size_t i = 1; i < atom.operands.size(); ++i) {
    const Dim next = substitute(atom.operands[i], symbols);
    switch (atom.kind) {
      case AtomKind::Symbol: break;
      case AtomKind::FloorDivide: result = result / next; break;
      case AtomKind::Modulo: result = result % next; break;
      case AtomKind::Min: result = min(result, next); break;
      case AtomKind::Max: result = max(result, next); break;
      case AtomKind::Bcast: result = bcast(result, next); break;
    }
  }
  return result;
}

}  // namespace

Dim substitute(const Dim& dim, const Substitution& symbols) {
  bool touched = false;
  if (!symbols.empty()) for_each_symbol(dim, [&](const Symbol& symbol) { touched = touched || symbols.contains(symbol.id); });
  if (!touched) return dim;
  Dim sum = constant_of(dim);
  for (const Term& term : terms_of(dim)) {
    Dim product = term.coefficient;
    for (const Factor& factor : term.factors) {
      const Dim atom = substitute_atom(factor, symbols);
      for (int i = 0; i < factor.power; ++i) product = product * atom;
    }
    sum = sum + product;
  }
  return sum;
}

Shape substitute(const Shape& shape, const Substitution& symbols) {
  Shape result;
  for (const Dim& dim : shape) result.push_back(substitute(dim, symbols));
  return result;
}

}  // namespace anyshape
