// Sizes as text, the way a person writes them; shape/parse.h reads it back.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "shape/dim_node.h"

namespace anyshape {
namespace {

bool is_quotient(const Atom& atom) { return atom.kind == AtomKind::FloorDivide || atom.kind == AtomKind::Modulo; }

// One term, or a constant: what may stand left of a `/` without parentheses, as `*` and `/` group from the left.
bool is_product(const Dim& dim) {
  if (dim.is_constant()) return dim.value() >= 0;
  const Atom* atom = as_atom(dim);
  if (atom != nullptr) return !is_quotient(*atom);
  return dim.node()->terms.size() == 1 && dim.node()->constant == 0;
}

bool is_single(const Dim& dim) {
  if (dim.is_constant()) return dim.value() >= 0;
  const Atom* atom = as_atom(dim);
  return atom != nullptr && !is_quotient(*atom);
}

std::string grouped(const Dim& dim, bool bare) { return fmt::format(fmt::runtime(bare ? "{}" : "({})"), to_string(dim)); }

std::string call(const char* name, const std::vector<Dim>& operands) {
  std::string text;
  for (const Dim& operand : operands) text += (text.empty() ? "" : ", ") + to_string(operand);
  return fmt::format("{}({})", name, text);
}

std::string text_of(const Atom& atom) {
  const auto quotient = [&](const char* sign) {
    return fmt::format("{} {} {}", grouped(atom.operands[0], is_product(atom.operands[0])), sign,
                       grouped(atom.operands[1], is_single(atom.operands[1])));
  };
  switch (atom.kind) {
    case AtomKind::Symbol: return atom.symbol.name;
    case AtomKind::FloorDivide: return quotient("/");
    case AtomKind::Modulo: return quotient("%");
    case AtomKind::Min: return call("min", atom.operands);
    case AtomKind::Max: return call("max", atom.operands);
    case AtomKind::Bcast: return call("bcast", atom.operands);
  }
  return "?";
}

std::string magnitude(int64_t value) {
  return fmt::format("{}", value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
}

// Without its sign; `leads` says that the sign stands before it without a space, so that it must not bind to a dividend alone.
std::string text_of(const Term& term, bool leads) {
  const bool alone =
      term.factors.size() == 1 && term.factors[0].power == 1 && (term.coefficient == 1 || (term.coefficient == -1 && !leads));
  std::string text = term.coefficient == 1 || term.coefficient == -1 ? "" : magnitude(term.coefficient);
  for (const Factor& factor : term.factors) {
    for (int i = 0; i < factor.power; ++i) {
      const std::string atom = text_of(*factor.atom);
      text += text.empty() ? "" : " * ";
      text += is_quotient(*factor.atom) && !alone ? fmt::format("({})", atom) : atom;
    }
  }
  return text;
}

std::string text_of(const RaggedAxis& axis) {
  if (!axis.name.empty()) return fmt::format("({})", axis.name);
  return fmt::format("({}..{})", to_string(axis.shortest), to_string(axis.longest));
}

}  // namespace

std::string to_string(const Dim& dim) {
  if (dim.is_constant()) return fmt::format("{}", dim.value());
  if (const RaggedAxis* axis = as_ragged_axis(dim)) return text_of(*axis);
  std::vector<const Term*> terms;
  for (const Term& term : dim.node()->terms) terms.push_back(&term);
  // A sum begins with something positive where it has it: "5 - rows", "cols - rows".
  const auto positive = std::find_if(terms.begin(), terms.end(), [](const Term* term) { return term->coefficient > 0; });
  if (positive != terms.end()) std::rotate(terms.begin(), positive, positive + 1);
  int64_t constant = dim.node()->constant;
  std::string text;
  if (positive == terms.end() && constant > 0) text = fmt::format("{}", std::exchange(constant, 0));
  for (const Term* term : terms) {
    const bool leads = text.empty(), negative = term->coefficient < 0;
    text += leads ? (negative ? "-" : "") : (negative ? " - " : " + ");
    text += text_of(*term, leads);
  }
  if (constant != 0) text += (constant < 0 ? " - " : " + ") + magnitude(constant);
  return text;
}

// A friend that its class declares does not take the visibility of its namespace.
[[gnu::visibility("default")]] std::ostream& operator<<(std::ostream& out, const Dim& dim) { return out << to_string(dim); }

}  // namespace anyshape
