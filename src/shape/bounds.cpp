// A size minus a multiple of something that is not negative is a lower bound of it. The search takes away what cancels one of its
// terms: sizes known to be >= 0, and what the atoms in it say of their operands.
#include "shape/bounds.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "shape/dim_node.h"
#include "shape/normal_form.h"

namespace anyshape {
namespace {

constexpr int search_depth = 2;
constexpr int search_budget = 200;  // differences looked at in one proof: large expressions must not take long to be undecided

// a - b, of which one is an atom's operand and one the atom: in terms of both.
Dim difference(const Dim& a, const Dim& b) {
  std::vector<Term> terms = terms_of(a);
  for (Term& term : terms_of(b)) {
    term.coefficient = checked_subtract(0, term.coefficient, "size expression");
    terms.push_back(std::move(term));
  }
  return make_plain_sum(std::move(terms), checked_subtract(constant_of(a), constant_of(b), "size expression"));
}

void add_facts_of(const Atom& atom, const Dim& self, std::vector<Dim>& facts) {
  const std::vector<Dim>& operands = atom.operands;
  switch (atom.kind) {
    case AtomKind::Symbol: break;
    case AtomKind::FloorDivide:
      if (operands[1].lower_bound() < 1) break;
      facts.push_back(operands[0] - operands[1] * self);
      facts.push_back(operands[1] * self + operands[1] - 1 - operands[0]);
      break;
    case AtomKind::Modulo:
      if (operands[1].lower_bound() < 1) break;
      facts.push_back(operands[1] - 1 - self);
      if (operands[0].lower_bound() >= 0) facts.push_back(operands[0] - self);
      break;
    case AtomKind::Min:
      for (const Dim& operand : operands) facts.push_back(difference(operand, self));
      break;
    case AtomKind::Max:
      for (const Dim& operand : operands) facts.push_back(difference(self, operand));
      break;
    case AtomKind::Bcast:  // each operand is 1 or the result, so the result is the greatest unless it may be 0
      if (std::any_of(operands.begin(), operands.end(), [](const Dim& operand) { return operand.lower_bound() < 1; })) break;
      for (const Dim& operand : operands) facts.push_back(self - operand);
      break;
  }
}

std::vector<Dim> facts_within(const Dim& dim) {
  std::vector<Dim> facts;
  for (const Term& term : dim.node()->terms) {
    for (const Factor& factor : term.factors) {
      if (factor.atom->kind != AtomKind::Symbol) add_facts_of(*factor.atom, make_sum({Term{1, {Factor{factor.atom, 1}}}}, 0), facts);
    }
  }
  return facts;
}

class Search {
 public:
  explicit Search(std::span<const Dim> not_negative) : not_negative_(not_negative) {}

  int64_t bound(const Dim& dim, int depth) {
    int64_t best = range_of(dim).low;
    if (dim.is_constant() || depth == 0 || best > 0) return best;
    for (const Dim& fact : not_negative_) best = std::max(best, bound_without(dim, fact, depth));
    if (best > 0 || budget_ <= 0) return best;
    for (const Dim& fact : facts_within(dim)) best = std::max(best, bound_without(dim, fact, depth));
    for (const Term& term : dim.node()->terms) {
      if (best > 0 || budget_ <= 0) break;
      if (is_least_of_some(term)) best = std::max(best, bound_of_each(dim, term, depth));
    }
    return best;
  }

 private:
  // A term that is the least of several: min(p, q), or less than nothing of a max.
  static bool is_least_of_some(const Term& term) {
    if (term.factors.size() != 1 || term.factors[0].power != 1) return false;
    return term.factors[0].atom->kind == (term.coefficient > 0 ? AtomKind::Min : AtomKind::Max);
  }

  // A min or max is one of its operands: what bounds the size with each of them instead of it bounds the size.
  int64_t bound_of_each(const Dim& dim, const Term& term, int depth) {
    const Dim rest = dim - make_sum({term}, 0);
    int64_t low = Range::infinity;
    for (const Dim& operand : term.factors[0].atom->operands) {
      if (--budget_ < 0) return Range::minus_infinity;
      low = std::min(low, bound(rest + Dim(term.coefficient) * operand, depth - 1));
    }
    return low;
  }

  // Takes from `dim` the multiple of `fact` that cancels one of its terms, in each way there is.
  int64_t bound_without(const Dim& dim, const Dim& fact, int depth) {
    int64_t best = Range::minus_infinity;
    if (fact.is_constant()) return best;
    for (const Term& term : dim.node()->terms) {
      for (const Term& known : fact.node()->terms) {
        if ((term.coefficient < 0) != (known.coefficient < 0)) continue;
        const std::optional<Term> rest = divide_exactly(Term{1, term.factors}, Term{1, known.factors});
        if (!rest) continue;
        const Dim cofactor = make_sum({*rest}, 0);
        if (cofactor.lower_bound() < 0) continue;
        if (--budget_ < 0) return best;
        const int64_t shared = greatest_common_divisor(term.coefficient, known.coefficient);
        const int64_t sign = known.coefficient < 0 ? -1 : 1;
        const int64_t scale = sign * (known.coefficient / shared), times = sign * (term.coefficient / shared);
        const int64_t low = bound(without(dim, scale, fact, Term{times, rest->factors}), depth - 1);
        if (low != Range::minus_infinity) best = std::max(best, -checked_floor_divide(-low, scale));
      }
    }
    return best;
  }

  // scale * dim - times * fact, where what is taken away cancels before the rest is put in its simplest form.
  static Dim without(const Dim& dim, int64_t scale, const Dim& fact, const Term& times) {
    constexpr std::string_view what = "size expression";
    std::vector<Term> terms = dim.node()->terms;
    for (Term& term : terms) term.coefficient = checked_multiply(term.coefficient, scale, what);
    const Term less{checked_subtract(0, times.coefficient, what), times.factors};
    for (const Term& term : fact.node()->terms) terms.push_back(multiply(less, term));
    terms.push_back(multiply(less, Term{fact.node()->constant, {}}));
    return make_sum(std::move(terms), checked_multiply(dim.node()->constant, scale, what));
  }

  std::span<const Dim> not_negative_;
  int budget_ = search_budget;
};

}  // namespace

int64_t proved_lower_bound(const Dim& dim, std::span<const Dim> not_negative) { return Search(not_negative).bound(dim, search_depth); }

}  // namespace anyshape
