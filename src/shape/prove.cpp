// Proofs about two sizes by the normal form of their difference: its value, its bounds and its remainders.
#include "shape/prove.h"

#include <anyshape/error.h>

#include <algorithm>

#include "base/checked.h"
#include "shape/bounds.h"
#include "shape/dim_node.h"
#include "shape/normal_form.h"
#include "shape/sample_signs.h"

namespace anyshape {
namespace {

using Known = std::span<const Dim>;

// Arithmetic on differences may overflow where the sizes themselves do not; then nothing is proved.
template <class Proof>
std::optional<bool> without_overflow(const Proof& proof) {
  try {
    return proof();
  } catch (const ShapeError&) {
    return std::nullopt;
  }
}

// Before the arithmetic, whose errors mean that nothing is proved.
void require_sizes(const Dim& a, const Dim& b) {
  require_size(a);
  require_size(b);
}

// All terms are multiples of something that the constant is no multiple of: 2 * rows - 1 is never 0.
bool has_remainder(const Dim& difference) {
  int64_t divisor = 0;
  for (const Term& term : difference.node()->terms) divisor = greatest_common_divisor(divisor, divisor_of(term));
  return divisor > 1 && difference.node()->constant % divisor != 0;
}

// Where there is no other knowledge that the samples might break.
Signs signs_without(const Dim& difference, Known known) { return known.empty() ? sample_signs(difference) : Signs{}; }

std::optional<bool> is_zero(const Dim& difference, Known known) {
  if (difference.is_constant()) return difference.value() == 0;
  if (range_of(difference) == Range{0, 0}) return true;
  if (has_remainder(difference)) return false;
  const Signs seen = signs_without(difference, known);
  if ((seen.zero && (seen.negative || seen.positive)) || (seen.negative && seen.positive)) return std::nullopt;
  const int64_t low = proved_lower_bound(difference, known), low_of_negative = proved_lower_bound(0 - difference, known);
  if (low > 0 || low_of_negative > 0) return false;
  if (low == 0 && low_of_negative == 0) return true;
  return std::nullopt;
}

std::optional<bool> is_not_negative(const Dim& difference, Known known) {
  const Signs seen = signs_without(difference, known);
  if (!seen.negative && proved_lower_bound(difference, known) >= 0) return true;
  if (!seen.zero && !seen.positive && proved_lower_bound(0 - difference, known) > 0) return false;
  return std::nullopt;
}

std::optional<bool> negate(std::optional<bool> known) { return known ? std::optional(!*known) : known; }

// `equal` and `less_equal` decide; everything else follows from them.
template <class Equal, class LessEqual>
std::optional<bool> by_relation(Relation relation, const Dim& a, const Dim& b, const Equal& equal, const LessEqual& less_equal) {
  switch (relation) {
    case Relation::Equal: return equal(a, b);
    case Relation::NotEqual: return negate(equal(a, b));
    case Relation::Less: return negate(less_equal(b, a));
    case Relation::LessEqual: return less_equal(a, b);
    case Relation::Broadcastable: break;
  }
  const std::optional<bool> cases[] = {equal(a, b), equal(a, 1), equal(b, 1)};
  bool all_false = true;
  for (const std::optional<bool>& known : cases) {
    if (known == true) return true;
    all_false = all_false && known == false;
  }
  return all_false ? std::optional(false) : std::nullopt;
}

// The symbol of a size that gets its value last; 0 where all are known from the start.
uint64_t newest_data_symbol(const Dim& dim) {
  uint64_t newest = 0;
  for_each_symbol(dim, [&](const Symbol& symbol) { newest = symbol.from_data ? std::max(newest, symbol.id) : newest; });
  return newest;
}

// The size divided by what its coefficients share; the factor is not 0, so 0 stays 0.
Dim primitive_part(const Dim& dim) {
  int64_t shared = dim.node()->constant;
  for (const Term& term : dim.node()->terms) shared = greatest_common_divisor(shared, term.coefficient);
  if (shared <= 1) return dim;
  std::vector<Term> terms = dim.node()->terms;
  for (Term& term : terms) term.coefficient /= shared;
  return make_sum(std::move(terms), dim.node()->constant / shared);
}

}  // namespace

std::optional<bool> proves_equal(const Dim& a, const Dim& b) {
  require_sizes(a, b);
  if (a.same_as(b)) return true;
  return without_overflow([&] { return is_zero(a - b, {}); });
}

std::optional<bool> proves_less_equal(const Dim& a, const Dim& b) {
  require_sizes(a, b);
  if (a.same_as(b)) return true;
  return without_overflow([&] { return is_not_negative(b - a, {}); });
}

std::optional<bool> proves_less(const Dim& a, const Dim& b) { return negate(proves_less_equal(b, a)); }

std::optional<bool> proves(Relation relation, const Dim& a, const Dim& b) {
  return by_relation(
      relation, a, b, [](const Dim& x, const Dim& y) { return proves_equal(x, y); },
      [](const Dim& x, const Dim& y) { return proves_less_equal(x, y); });
}

Dim Facts::reduce(const Dim& dim) const {
  Dim result = dim;
  for (const Rewrite& rewrite : rewrites_) {
    const Term& pattern = rewrite.monomial.node()->terms.front();
    // Each round makes the greatest matching term smaller; the limit is for chains that are long, not endless.
    for (int round = 0; round < 64 && !result.is_constant(); ++round) {
      std::optional<Term> rest;
      Dim matched;
      for (const Term& term : result.node()->terms) {
        if ((rest = divide_exactly(term, pattern))) {
          matched = make_sum({term}, 0);
          break;
        }
      }
      if (!rest) break;
      result = result - matched + make_sum({*rest}, 0) * rewrite.replacement;
    }
  }
  return result;
}

Dim Facts::simplify(const Dim& dim) const { return reduce(substitute(dim, symbols_)); }

void Facts::replace_symbol(const Dim& symbol, const Dim& replacement) {
  const Substitution one{{as_symbol(symbol)->id, replacement}};
  for (auto& [id, size] : symbols_) size = substitute(size, one);
  symbols_.insert(one.begin(), one.end());
  std::vector<Dim> known;
  known.swap(not_negative_);
  // The symbol's own range goes with it: it becomes a bound of what stands for it.
  const Range range = range_of(symbol);
  if (range.low > range_of(replacement).low) assume_at_least(replacement, range.low);
  if (range.high < range_of(replacement).high) assume_at_least(range.high, replacement);
  for (const Dim& size : known) assume_at_least(size, 0);
  std::vector<Rewrite> rewrites;
  rewrites.swap(rewrites_);
  for (const Rewrite& rewrite : rewrites) assume_equal(rewrite.monomial, rewrite.replacement);
}

void Facts::assume_equal(const Dim& a, const Dim& b) {
  Dim difference = simplify(a) - simplify(b);
  if (difference.is_constant()) return;
  difference = primitive_part(difference);
  // An equality that depends on data may rewrite only what comes after the op that makes it true: sizes with its newest symbol.
  const uint64_t newest = newest_data_symbol(difference);
  const Term* solved = nullptr;
  for (const Term& term : difference.node()->terms) {
    const Atom& atom = *term.factors.front().atom;
    const bool is_plain = term.factors.size() == 1 && term.factors.front().power == 1 && atom.kind == AtomKind::Symbol;
    if (!is_plain || (term.coefficient != 1 && term.coefficient != -1)) continue;
    if (newest != 0 && atom.symbol.id != newest) continue;
    if (depends_on(difference - make_sum({term}, 0), atom.symbol.id)) continue;
    if (solved == nullptr || solved->factors.front().atom->symbol.id < atom.symbol.id) solved = &term;
  }
  if (solved != nullptr) {
    const Dim rest = difference - make_sum({*solved}, 0);
    return replace_symbol(make_sum({Term{1, solved->factors}}, 0), solved->coefficient == 1 ? 0 - rest : rest);
  }
  const Term& lead = difference.node()->terms.front();
  if (lead.coefficient != 1 && lead.coefficient != -1) return;
  if (newest != 0 && !depends_on(make_sum({lead}, 0), newest)) return;
  const Dim rest = difference - make_sum({lead}, 0);
  rewrites_.push_back({make_sum({Term{1, lead.factors}}, 0), lead.coefficient == 1 ? 0 - rest : rest});
}

void Facts::assume_at_least(const Dim& a, const Dim& b) {
  const Dim difference = simplify(a) - simplify(b);
  if (!difference.is_constant() && range_of(difference).low < 0) not_negative_.push_back(difference);
}

void Facts::assume(const SizeCheck& check) {
  switch (check.relation) {
    case Relation::Equal: return assume_equal(check.a, check.b);
    case Relation::Less: return assume_at_least(check.b, check.a + 1);
    case Relation::LessEqual: return assume_at_least(check.b, check.a);
    case Relation::Broadcastable:
      if (proves_equal(check.a, 1) == false && proves_equal(check.b, 1) == false) return assume_equal(check.a, check.b);
      break;
    case Relation::NotEqual: break;
  }
  relations_.push_back(check);
}

std::optional<bool> Facts::proves_equal(const Dim& a, const Dim& b) const {
  require_sizes(a, b);
  if (a.same_as(b)) return true;
  const Dim x = simplify(a), y = simplify(b);
  if (const std::optional<bool> known = without_overflow([&] { return is_zero(x - y, not_negative_); })) return known;
  for (const SizeCheck& check : relations_) {
    if (check.relation != Relation::NotEqual) continue;
    const Dim p = simplify(check.a), q = simplify(check.b);
    if ((p.same_as(x) && q.same_as(y)) || (p.same_as(y) && q.same_as(x))) return false;
  }
  return std::nullopt;
}

std::optional<bool> Facts::proves_less_equal(const Dim& a, const Dim& b) const {
  require_sizes(a, b);
  return without_overflow([&] { return is_not_negative(simplify(b) - simplify(a), not_negative_); });
}

std::optional<bool> Facts::proves_less(const Dim& a, const Dim& b) const { return negate(proves_less_equal(b, a)); }

std::optional<bool> Facts::proves(Relation relation, const Dim& a, const Dim& b) const {
  const std::optional<bool> known = by_relation(
      relation, a, b, [&](const Dim& x, const Dim& y) { return proves_equal(x, y); },
      [&](const Dim& x, const Dim& y) { return proves_less_equal(x, y); });
  if (known || relation != Relation::Broadcastable) return known;
  const Dim x = simplify(a), y = simplify(b);
  for (const SizeCheck& check : relations_) {
    if (check.relation != Relation::Broadcastable) continue;
    const Dim p = simplify(check.a), q = simplify(check.b);
    if ((p.same_as(x) && q.same_as(y)) || (p.same_as(y) && q.same_as(x))) return true;
  }
  return std::nullopt;
}

}  // namespace anyshape
