// Sums in normal form: sorting, joining, and the two rewrites that let quotients and remainders cancel.
#include "shape/normal_form.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/checked.h"
#include "shape/judge.h"

namespace anyshape {
namespace {

// Far above what programs need, low enough that a hostile text cannot fill the memory. Sums of symbols and of products of two, as tensors put
// one behind the other make them, do not grow but with what is added: only their weight bounds them.
constexpr size_t max_terms = 256;
constexpr int max_degree = 64;
constexpr int64_t max_weight = 20'000;

[[noreturn]] void throw_beyond_limits() {
  throw_too_large(fmt::format("expected at most {} terms, of degree {} or less, with {} symbols and operations in all", max_terms,
                              max_degree, max_weight));
}

size_t mix(size_t seed, size_t value) { return (seed ^ value) * 0x9e3779b97f4a7c15u + (seed << 7) + (value >> 5); }

bool is_plain(const Term& term) {
  int degree = 0;
  for (const Factor& factor : term.factors) degree += factor.atom->kind == AtomKind::Symbol ? factor.power : max_degree;
  return degree <= 2;
}

void sort_and_join(std::vector<Term>& terms) {
  if (terms.size() > max_terms && (terms.size() > max_weight || !std::all_of(terms.begin(), terms.end(), is_plain))) throw_beyond_limits();
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return compare_monomials(a.factors, b.factors) > 0; });
  size_t kept = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (kept > 0 && compare_monomials(terms[kept - 1].factors, terms[i].factors) == 0) {
      terms[kept - 1].coefficient = checked_add(terms[kept - 1].coefficient, terms[i].coefficient, "size expression");
    } else {
      if (kept != i) terms[kept] = std::move(terms[i]);
      ++kept;
    }
  }
  terms.resize(kept);
  std::erase_if(terms, [](const Term& term) { return term.coefficient == 0; });
}

Term without_factor(const Term& term, size_t index) {
  Term rest = term;
  if (--rest.factors[index].power == 0) rest.factors.erase(rest.factors.begin() + static_cast<std::ptrdiff_t>(index));
  return rest;
}

bool divides_by_constant(const Atom& atom) {
  return atom.operands.size() == 2 && atom.operands[1].is_constant() && atom.operands[1].value() > 0;
}

// A term c * (a / k) * rest with a a multiple of k: the quotient is exact, so what c and k share cancels.
std::optional<Dim> cancel_exact_quotient(const Term& term) {
  for (size_t i = 0; i < term.factors.size(); ++i) {
    const Atom& atom = *term.factors[i].atom;
    if (atom.kind != AtomKind::FloorDivide || !divides_by_constant(atom)) continue;
    const int64_t k = atom.operands[1].value();
    const int64_t shared = greatest_common_divisor(term.coefficient, k);
    if (shared == 1 || divisor_of(atom.operands[0]) % k != 0) continue;
    Term rest = without_factor(term, i);
    rest.coefficient /= shared;
    return make_sum({std::move(rest)}, 0) * (atom.operands[0] / Dim(k / shared));
  }
  return std::nullopt;
}

// c * (a % k) * rest beside c * k * (a / k) * rest is c * a * rest. Removes both terms and gives what they make.
std::optional<Dim> join_quotient_and_remainder(std::vector<Term>& terms) {
  for (size_t i = 0; i < terms.size() && terms.size() > 1; ++i) {
    for (size_t f = 0; f < terms[i].factors.size(); ++f) {
      const Atom& modulo = *terms[i].factors[f].atom;
      if (modulo.kind != AtomKind::Modulo || !divides_by_constant(modulo)) continue;
      const Dim whole = modulo.operands[0] / modulo.operands[1];
      const Atom* quotient = as_atom(whole);
      int64_t wanted = 0;
      if (quotient == nullptr || __builtin_mul_overflow(terms[i].coefficient, modulo.operands[1].value(), &wanted)) continue;
      Term rest = without_factor(terms[i], f);
      const Term partner = multiply(Term{wanted, without_factor(terms[i], f).factors}, Term{1, whole.node()->terms[0].factors});
      for (size_t j = 0; j < terms.size(); ++j) {
        if (terms[j].coefficient != wanted || compare_monomials(terms[j].factors, partner.factors) != 0) continue;
        const Dim dividend = modulo.operands[0];
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
        terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
        return make_sum({std::move(rest)}, 0) * dividend;
      }
    }
  }
  return std::nullopt;
}

// Where the terms of `taken`, times -`times`, stand among the others, in order; nothing where one of them does not.
std::vector<size_t> find_taken_away(const std::vector<Term>& terms, const Dim& taken, int64_t times) {
  constexpr size_t most_terms = 2;  // what is taken away comes to all other operands: large ones make it no simpler
  std::vector<size_t> found;
  if (taken.is_constant() || taken.node()->terms.size() > most_terms) return found;
  for (const Term& part : taken.node()->terms) {
    const auto is_taken = [&](const Term& term) {
      int64_t product = 0;
      if (__builtin_mul_overflow(part.coefficient, times, &product) || product == Range::minus_infinity) return false;
      return term.coefficient == -product && compare_monomials(term.factors, part.factors) == 0;
    };
    const auto found_term = std::find_if(terms.begin(), terms.end(), is_taken);
    if (found_term == terms.end()) return {};
    found.push_back(static_cast<size_t>(found_term - terms.begin()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

// A sum that takes away an operand of a min or max in it, but for a number: n - min(n, 2) is max(0, n - 2), however it came about. Removes the
// terms and gives what they make.
std::optional<Dim> join_extreme(std::vector<Term>& terms) {
  constexpr size_t most_operands = 4;
  for (size_t i = 0; i < terms.size() && terms.size() > 1; ++i) {
    if (terms[i].factors.size() != 1 || terms[i].factors[0].power != 1) continue;
    const std::shared_ptr<const Atom> atom = terms[i].factors[0].atom;
    if ((atom->kind != AtomKind::Min && atom->kind != AtomKind::Max) || atom->operands.size() > most_operands) continue;
    const int64_t times = terms[i].coefficient;
    for (const Dim& taken : atom->operands) {
      std::vector<size_t> indices = find_taken_away(terms, taken, times);
      if (indices.empty()) continue;
      const Dim away = taken - constant_of(taken);
      std::optional<Dim> joined;
      for (const Dim& operand : atom->operands) {
        const Dim rest = Dim(times) * (operand - away);
        const bool is_max = (atom->kind == AtomKind::Max) == (times > 0);
        joined = !joined ? rest : is_max ? max(*joined, rest) : min(*joined, rest);
      }
      indices.push_back(i);
      std::sort(indices.begin(), indices.end());
      for (size_t last = indices.size(); last-- > 0;) terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(indices[last]));
      return joined;
    }
  }
  return std::nullopt;
}

Dim finish(std::vector<Term> terms, int64_t constant) {
  std::vector<Term> plain;
  if (std::none_of(terms.begin(), terms.end(), [](const Term& term) { return term.factors.empty(); })) {
    plain = std::move(terms);
  } else {
    for (Term& term : terms) {
      if (term.factors.empty())
        constant = checked_add(constant, term.coefficient, "size expression");
      else
        plain.push_back(std::move(term));
    }
  }
  if (plain.empty()) return constant;
  auto node = std::make_shared<DimNode>();
  node->constant = constant;
  node->range = range_of(Dim(constant));
  node->divisor = greatest_common_divisor(constant, 0);
  node->hash = mix(0x51ed270b, std::hash<int64_t>{}(constant));
  for (const Term& term : plain) {
    Range range = range_of(Dim(term.coefficient));
    size_t hash = std::hash<int64_t>{}(term.coefficient);
    for (const Factor& factor : term.factors) {
      range = range * power(factor.atom->range, factor.power);
      node->weight += factor.atom->weight * factor.power;
      hash = mix(hash, factor.atom->hash + static_cast<size_t>(factor.power));
    }
    node->range = node->range + range;
    node->divisor = greatest_common_divisor(node->divisor, divisor_of(term));
    node->hash = mix(node->hash, hash);
  }
  if (node->weight > max_weight) throw_beyond_limits();
  node->terms = std::move(plain);
  return Dim(std::shared_ptr<const DimNode>(std::move(node)));
}

}  // namespace

void throw_too_large(const std::string& what) {
  const DimJudge* const judge = current_judge();
  throw SizeTooLarge(
      fmt::format("{}size expression is too large: {}.{} Sizes of which little is known grow from op to op: say more in the "
                  "signature, as as::dim(\"n\", {{.min = 16}}) does, or call specialize() on one of them.",
                  judge == nullptr ? "" : judge->calling_op(), what, judge == nullptr ? "" : judge->traced_function()));
}

void require_term_count(size_t count) {
  if (count > max_terms) throw_beyond_limits();
}

int64_t greatest_common_divisor(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  while (y != 0) {
    const uint64_t rest = x % y;
    x = y;
    y = rest;
  }
  return x > static_cast<uint64_t>(Range::infinity) ? int64_t{1} << 62 : static_cast<int64_t>(x);
}

std::vector<Term> terms_of(const Dim& dim) {
  require_size(dim);
  return dim.is_constant() ? std::vector<Term>() : dim.node()->terms;
}
int64_t constant_of(const Dim& dim) { return dim.is_constant() ? dim.value() : dim.node()->constant; }

Term multiply(const Term& a, const Term& b) {
  Term result{checked_multiply(a.coefficient, b.coefficient, "size expression"), {}};
  size_t i = 0, j = 0;
  int degree = 0;
  while (i < a.factors.size() || j < b.factors.size()) {
    const int order = i == a.factors.size() ? -1 : j == b.factors.size() ? 1 : compare_atoms(*a.factors[i].atom, *b.factors[j].atom);
    if (order == 0)
      result.factors.push_back({a.factors[i].atom, a.factors[i].power + b.factors[j].power});
    else
      result.factors.push_back(order > 0 ? a.factors[i] : b.factors[j]);
    if (order >= 0) ++i;
    if (order <= 0) ++j;
    degree += result.factors.back().power;
  }
  if (degree > max_degree) throw_beyond_limits();
  return result;
}

std::optional<Term> divide_exactly(const Term& a, const Term& b) {
  if (b.coefficient == 0 || checked_floor_modulo(a.coefficient, b.coefficient) != 0) return std::nullopt;
  Term result{checked_floor_divide(a.coefficient, b.coefficient), a.factors};
  for (const Factor& factor : b.factors) {
    const auto same = [&](const Factor& other) { return compare_atoms(*other.atom, *factor.atom) == 0; };
    const auto found = std::find_if(result.factors.begin(), result.factors.end(), same);
    if (found == result.factors.end() || found->power < factor.power) return std::nullopt;
    found->power -= factor.power;
    if (found->power == 0) result.factors.erase(found);
  }
  return result;
}

int64_t divisor_of(const Term& term) {
  int64_t divisor = greatest_common_divisor(term.coefficient, 0);
  for (const Factor& factor : term.factors) {
    for (int i = 0; i < factor.power; ++i) {
      int64_t next = 0;
      if (__builtin_mul_overflow(divisor, factor.atom->divisor, &next)) return divisor;  // a part of it is still true
      divisor = next;
    }
  }
  return divisor;
}

Dim make_atom(AtomKind kind, std::vector<Dim> operands) {
  auto atom = std::make_shared<Atom>();
  atom->kind = kind;
  atom->hash = static_cast<size_t>(kind) + 1;
  atom->range = range_of(operands[0]);
  atom->divisor = divisor_of(operands[0]);
  for (const Dim& operand : operands) {
    atom->hash = mix(atom->hash, hash_of(operand));
    atom->weight += operand.is_constant() ? 1 : operand.node()->weight;
  }
  for (size_t i = 1; i < operands.size(); ++i) {
    const Range next = range_of(operands[i]);
    const int64_t divisor = divisor_of(operands[i]);
    switch (kind) {
      case AtomKind::Symbol: break;
      case AtomKind::FloorDivide: {
        const bool exact = operands[i].is_constant() && divisor != 0 && atom->divisor % divisor == 0;
        atom->range = floor_divide(atom->range, next);
        atom->divisor = exact ? atom->divisor / divisor : 1;
        break;
      }
      case AtomKind::Modulo: atom->range = floor_modulo(atom->range, next); break;
      case AtomKind::Min: atom->range = minimum(atom->range, next); break;
      case AtomKind::Max: atom->range = maximum(atom->range, next); break;
      case AtomKind::Bcast: atom->range = hull(atom->range, next); break;
    }
    if (kind != AtomKind::FloorDivide) atom->divisor = greatest_common_divisor(atom->divisor, divisor);
  }
  atom->operands = std::move(operands);
  return make_sum({Term{1, {Factor{std::move(atom), 1}}}}, 0);
}

Dim make_plain_sum(std::vector<Term> terms, int64_t constant) {
  sort_and_join(terms);
  return finish(std::move(terms), constant);
}

Dim make_sum(std::vector<Term> terms, int64_t constant) {
  sort_and_join(terms);
  for (size_t i = 0; i < terms.size(); ++i) {
    std::optional<Dim> simpler = cancel_exact_quotient(terms[i]);
    if (!simpler) continue;
    terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    return make_sum(std::move(terms), constant) + *simpler;
  }
  if (std::optional<Dim> joined = join_quotient_and_remainder(terms)) return make_sum(std::move(terms), constant) + *joined;
  if (std::optional<Dim> joined = join_extreme(terms)) return make_sum(std::move(terms), constant) + *joined;
  return finish(std::move(terms), constant);
}

Division divide_polynomials(const Dim& a, const Dim& b) {
  Division result{0, a};
  const Term lead = b.node()->terms.front();
  // A round may bring in as many new terms as it takes away; beyond this many the division is not going to come out even.
  for (int round = 0; round < 64 && !result.remainder.is_constant(); ++round) {
    const std::optional<Term> quotient = divide_exactly(result.remainder.node()->terms.front(), lead);
    if (!quotient) break;
    const Dim part = make_sum({*quotient}, 0);
    result.quotient = result.quotient + part;
    result.remainder = result.remainder - part * b;
  }
  return result;
}

}  // namespace anyshape
