// Floor division and modulo of sizes. What divides evenly leaves the quotient; the rest becomes an atom with the smallest operands.
// A divisor that turns out to be 0 is an error of the division itself, so folding may take it to be anything else.
#include <algorithm>

#include "base/checked.h"
#include "shape/dim_node.h"
#include "shape/normal_form.h"

// Friends declared inside a class do not take the visibility of its namespace, so it is said again where they are defined.
namespace [[gnu::visibility("default")]] anyshape {
namespace {

// a == k * quotient + remainder, with everything that divides by k in the quotient.
struct Split {
  Dim quotient;
  Dim remainder;
};

Dim divide_term_exactly(Term term, int64_t k) {
  const int64_t shared = greatest_common_divisor(term.coefficient, k);
  const int64_t coefficient = term.coefficient / shared;
  if (shared == k) return make_sum({Term{coefficient, std::move(term.factors)}}, 0);
  return make_atom(AtomKind::FloorDivide, {make_sum({Term{1, std::move(term.factors)}}, 0), Dim(k / shared)}) * Dim(coefficient);
}

Split split_by_constant(const Dim& a, int64_t k) {
  const int64_t constant = constant_of(a);
  Split result{checked_floor_divide(constant, k), 0};
  std::vector<Term> rest;
  for (Term& term : terms_of(a)) {
    if (divisor_of(term) % k == 0) {
      result.quotient = result.quotient + divide_term_exactly(std::move(term), k);
      continue;
    }
    if (term.coefficient > k) {  // positive ones only: a negative remainder keeps the tighter range
      result.quotient = result.quotient + make_sum({Term{term.coefficient / k, term.factors}}, 0);
      term.coefficient %= k;
    }
    rest.push_back(std::move(term));
  }
  result.remainder = make_sum(std::move(rest), checked_floor_modulo(constant, k));
  return result;
}

int64_t shared_by_coefficients(const Dim& dim, int64_t k) {
  for (const Term& term : terms_of(dim)) k = greatest_common_divisor(k, term.coefficient);
  return k;
}

// The terms divided by `k`, which divides all their coefficients; the constant rounds down.
Dim divide_coefficients(const Dim& dim, int64_t k) {
  std::vector<Term> terms = terms_of(dim);
  for (Term& term : terms) term.coefficient /= k;
  return make_sum(std::move(terms), checked_floor_divide(constant_of(dim), k));
}

Dim divide_by_constant(const Dim& a, int64_t k) {
  if (k == 0) throw_divided_by_zero(0, "/", "size expression");
  if (k < 0) return divide_by_constant(0 - a, checked_subtract(0, k, "size expression"));
  if (k == 1) return a;
  const Split split = split_by_constant(a, k);
  if (split.remainder.is_constant()) return split.quotient;  // below k and not negative
  const int64_t shared = shared_by_coefficients(split.remainder, k);
  Dim rest = divide_coefficients(split.remainder, shared);
  k /= shared;
  // The remaining terms are multiples of `divisor`: what the constant has beyond a multiple of it never reaches the next quotient.
  int64_t divisor = k;
  for (const Term& term : terms_of(rest)) divisor = greatest_common_divisor(divisor, divisor_of(term));
  rest = rest - Dim(checked_floor_modulo(constant_of(rest), divisor));
  if (rest.is_constant() || k == 1) return split.quotient + rest;
  const Range range = floor_divide(range_of(rest), range_of(Dim(k)));
  if (range.is_one_value()) return split.quotient + Dim(range.low);
  const Atom* inner = as_atom(rest);
  if (inner != nullptr && inner->kind == AtomKind::FloorDivide && inner->operands[1].is_constant()) {
    int64_t both = 0;
    if (inner->operands[1].value() > 0 && !__builtin_mul_overflow(k, inner->operands[1].value(), &both)) {
      return split.quotient + inner->operands[0] / Dim(both);
    }
  }
  return split.quotient + make_atom(AtomKind::FloorDivide, {rest, Dim(k)});
}

Dim modulo_by_constant(const Dim& a, int64_t k) {
  if (k == 0) throw_divided_by_zero(0, "%", "size expression");
  if (k < 0) return 0 - modulo_by_constant(0 - a, checked_subtract(0, k, "size expression"));
  std::vector<Term> terms;
  for (Term& term : terms_of(a)) {
    if (divisor_of(term) % k == 0) continue;
    term.coefficient = checked_floor_modulo(term.coefficient, k);
    terms.push_back(std::move(term));
  }
  const Dim rest = make_sum(std::move(terms), checked_floor_modulo(constant_of(a), k));
  const Range range = range_of(rest);
  if (range.low >= 0 && range.high < k) return rest;
  const int64_t shared = shared_by_coefficients(rest, k);
  const Dim beyond = checked_floor_modulo(constant_of(rest), shared);
  const Dim reduced = divide_coefficients(rest, shared);
  k /= shared;
  if (k == 1) return beyond;
  if (shared > 1) return Dim(shared) * modulo_by_constant(reduced, k) + beyond;
  return make_atom(AtomKind::Modulo, {reduced, Dim(k)});
}

// What every term of both has: coefficients included, and constants too.
Term common_factor(const Dim& a, const Dim& b) {
  Term common = b.node()->terms.front();
  if (constant_of(a) != 0 || constant_of(b) != 0) common.factors.clear();
  common.coefficient = greatest_common_divisor(constant_of(a), constant_of(b));
  for (const Dim* dim : {&a, &b}) {
    for (const Term& term : terms_of(*dim)) {
      common.coefficient = greatest_common_divisor(common.coefficient, term.coefficient);
      for (Factor& factor : common.factors) {
        const auto same = [&](const Factor& other) { return compare_atoms(*other.atom, *factor.atom) == 0; };
        const auto found = std::find_if(term.factors.begin(), term.factors.end(), same);
        factor.power = found == term.factors.end() ? 0 : std::min(factor.power, found->power);
      }
      std::erase_if(common.factors, [](const Factor& factor) { return factor.power == 0; });
    }
  }
  return common;
}

Dim divide_all(const Dim& dim, const Term& common) {
  std::vector<Term> terms;
  for (const Term& term : terms_of(dim)) terms.push_back(divide_exactly(term, common).value());
  return make_sum(std::move(terms), constant_of(dim) / common.coefficient);
}

// By a symbolic divisor: whole multiples of it leave; a sum as divisor must divide evenly or not at all.
Split split_by_symbols(const Dim& a, const Dim& b) {
  const DimNode& divisor = *b.node();
  if (divisor.terms.size() == 1 && divisor.constant == 0) {
    std::vector<Term> quotient, rest;
    for (Term& term : terms_of(a)) {
      if (std::optional<Term> whole = divide_exactly(term, divisor.terms.front()))
        quotient.push_back(std::move(*whole));
      else
        rest.push_back(std::move(term));
    }
    return {make_sum(std::move(quotient), 0), make_sum(std::move(rest), constant_of(a))};
  }
  const Division division = divide_polynomials(a, b);
  if (division.remainder.is_constant() && division.remainder.value() == 0) return {division.quotient, 0};
  return {0, a};
}

bool is_zero(const Dim& dim) { return dim.is_constant() && dim.value() == 0; }

}  // namespace

Dim operator/(const Dim& a, const Dim& b) {
  require_size(a);
  require_size(b);
  if (b.is_constant())
    return a.is_constant() ? Dim(checked_floor_divide(a.value(), b.value(), "size expression")) : divide_by_constant(a, b.value());
  const Split split = split_by_symbols(a, b);
  if (is_zero(split.remainder)) return split.quotient;
  const Range range = floor_divide(range_of(split.remainder), range_of(b));
  if (range.is_one_value()) return split.quotient + Dim(range.low);
  const Term common = common_factor(split.remainder, b);
  if (common.coefficient != 1 || !common.factors.empty()) {
    return split.quotient + divide_all(split.remainder, common) / divide_all(b, common);
  }
  return split.quotient + make_atom(AtomKind::FloorDivide, {split.remainder, b});
}

Dim operator%(const Dim& a, const Dim& b) {
  require_size(a);
  require_size(b);
  if (b.is_constant())
    return a.is_constant() ? Dim(checked_floor_modulo(a.value(), b.value(), "size expression")) : modulo_by_constant(a, b.value());
  const Split split = split_by_symbols(a, b);
  if (is_zero(split.remainder)) return 0;
  const Range range = range_of(split.remainder);
  if (range.low >= 0 && range.high < range_of(b).low) return split.remainder;
  return make_atom(AtomKind::Modulo, {split.remainder, b});
}

}  // namespace anyshape
