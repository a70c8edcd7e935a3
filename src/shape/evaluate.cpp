// Evaluation by walking the normal form.
#include "shape/evaluate.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "shape/dim_node.h"

namespace anyshape {
namespace {

int64_t evaluate_atom(const Atom& atom, const Bindings& values) {
  if (atom.kind == AtomKind::Symbol) {
    if (const std::optional<int64_t> value = values.find(atom.symbol.id)) return *value;
    throw TraceError(
        fmt::format("size expression: the symbol \"{}\" has no value here; expected one of this trace's sizes. "
                    "A symbolic size must not leave the function that made it.",
                    atom.symbol.name));
  }
  int64_t result = evaluate(atom.operands[0], values);
  for (size_t i = 1; i < atom.operands.size(); ++i) {
    const int64_t next = evaluate(atom.operands[i], values);
    switch (atom.kind) {
      case AtomKind::Symbol: break;
      case AtomKind::FloorDivide: result = checked_floor_divide(result, next, "size expression"); break;
      case AtomKind::Modulo: result = checked_floor_modulo(result, next, "size expression"); break;
      case AtomKind::Min: result = std::min(result, next); break;
      case AtomKind::Max: result = std::max(result, next); break;
      case AtomKind::Bcast: result = result == 1 ? next : result; break;
    }
  }
  return result;
}

}  // namespace

void Bindings::set(const Dim& symbol, int64_t value) {
  const Symbol* known = as_symbol(symbol);
  if (known == nullptr) throw InternalError(fmt::format("bindings: \"{}\" is no symbol.", to_string(symbol)));
  set(known->id, value);
}

std::optional<int64_t> Bindings::find(uint64_t symbol_id) const {
  const auto found = values_.find(symbol_id);
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

int64_t evaluate(const Dim& dim, const Bindings& values) {
  if (dim.is_constant()) return dim.value();
  require_size(dim);
  int64_t sum = dim.node()->constant;
  for (const Term& term : dim.node()->terms) {
    int64_t product = 1;
    for (const Factor& factor : term.factors) {
      const int64_t value = evaluate_atom(*factor.atom, values);
      for (int i = 0; i < factor.power; ++i) product = checked_multiply(product, value, "size expression");
    }
    sum = checked_add(sum, checked_multiply(product, term.coefficient, "size expression"), "size expression");
  }
  return sum;
}

}  // namespace anyshape
