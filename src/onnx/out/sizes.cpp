// Sizes as integer arithmetic on vectors of one element. Every expression is computed once, in the outermost graph.
#include "onnx/out/emitter.h"
#include "shape/normal_form.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape::onnx::out {

std::string Emitter::size(const Dim& size) {
  if (size.is_constant()) return integers({size.value()});
  if (const auto found = sizes_.find(size); found != sizes_.end()) return found->second;
  const std::string made = in_root([&] { return make_size(size); });
  sizes_.emplace(size, made);
  return made;
}

std::string Emitter::make_size(const Dim& size) {
  if (const Atom* atom = as_atom(size)) return make_atom(*atom);
  std::string sum;
  const auto add_term = [&](const std::string& term, bool is_less) {
    if (sum.empty()) {
      sum = is_less ? add("Neg", {term}) : term;
    } else {
      sum = add(is_less ? "Sub" : "Add", {sum, term});
    }
  };
  std::vector<Term> terms = size.node()->terms;
  std::ranges::sort(terms, std::greater<>(), [](const Term& term) { return term.coefficient > 0; });  // so that little is less than nothing
  for (const Term& term : terms) {
    std::string product;
    for (const Factor& factor : term.factors) {
      for (int power = 0; power < factor.power; ++power) {
        const std::string one = make_atom(*factor.atom);
        product = product.empty() ? one : add("Mul", {product, one});
      }
    }
    const int64_t many = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    if (many != 1) product = add("Mul", {product, integers({many})});
    add_term(product, term.coefficient < 0);
  }
  if (size.node()->constant > 0) add_term(integers({size.node()->constant}), false);
  if (size.node()->constant < 0) add_term(integers({-size.node()->constant}), true);
  return sum;
}

// The division rounds down, ONNX's toward 0: these differ below 0 only, where the remainder is taken away first.
std::string Emitter::make_atom(const Atom& atom) {
  if (atom.kind == AtomKind::Symbol) {
    for (const auto& [symbol, name] : sizes_) {
      const Symbol* const own = as_symbol(symbol);
      if (own != nullptr && own->id == atom.symbol.id) return name;
    }
    throw InternalError(fmt::format("onnx: nothing says what the size \"{}\" is", atom.symbol.name));
  }
  const Dim whole = anyshape::make_atom(atom.kind, atom.operands);
  if (const auto found = sizes_.find(whole); found != sizes_.end()) return found->second;
  Names operands;
  for (const Dim& operand : atom.operands) operands.push_back(size(operand));
  std::string made;
  switch (atom.kind) {
    case AtomKind::FloorDivide: {
      const bool is_plain = range_of(atom.operands[0]).low >= 0 && range_of(atom.operands[1]).low >= 0;
      made = add("Div", {is_plain ? operands[0] : add("Sub", {operands[0], add("Mod", operands)}), operands[1]});
      break;
    }
    case AtomKind::Modulo: made = add("Mod", operands); break;
    case AtomKind::Min: made = add("Min", operands); break;
    case AtomKind::Max: made = add("Max", operands); break;
    case AtomKind::Bcast:
      made = operands.back();
      for (size_t i = operands.size() - 1; i-- > 0;) made = add("Where", {add("Equal", {operands[i], integers({1})}), made, operands[i]});
      break;
    case AtomKind::Symbol: break;
  }
  sizes_.emplace(whole, made);
  return made;
}

std::string Emitter::sizes(std::span<const Dim> sizes) {
  if (std::ranges::all_of(sizes, &Dim::is_constant)) {
    std::vector<int64_t> values;
    for (const Dim& each : sizes) values.push_back(each.value());
    return integers(values);
  }
  // Neighbouring numbers are one constant.
  Names parts;
  std::vector<int64_t> numbers;
  const auto end_numbers = [&] {
    if (!numbers.empty()) parts.push_back(integers(numbers));
    numbers.clear();
  };
  for (const Dim& each : sizes) {
    if (each.is_constant()) {
      numbers.push_back(each.value());
      continue;
    }
    end_numbers();
    parts.push_back(size(each));
  }
  end_numbers();
  if (parts.size() == 1) return parts[0];
  std::string& found = vectors_[fmt::format("{}", fmt::join(parts, " "))];
  if (found.empty()) found = in_root([&] { return add("Concat", parts, {{"axis", int64_t{0}}}); });
  return found;
}

std::string Emitter::size_number(const Dim& size) {
  if (size.is_constant()) return integer(size.value());
  std::string& found = vectors_["number " + this->size(size)];
  if (found.empty()) found = in_root([&] { return add("Squeeze", {this->size(size), integers({0})}); });
  return found;
}

std::string Emitter::size_of_axis(const std::string& name, int axis) {
  return in_root([&] { return add("Shape", {name}, {{"start", int64_t{axis}}, {"end", int64_t{axis} + 1}}); });
}

}  // namespace anyshape::onnx::out
