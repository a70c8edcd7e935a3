// Arithmetic and comparison of sizes. Constants never leave the fast path; symbolic ones go through the normal form.
#include <anyshape/dim.h>
#include <anyshape/error.h>
#include <fmt/format.h>

#include "base/checked.h"
#include "shape/dim_node.h"
#include "shape/judge.h"
#include "shape/normal_form.h"
#include "shape/prove.h"

// Friends declared inside a class do not take the visibility of its namespace, so it is said again where they are defined.
namespace [[gnu::visibility("default")]] anyshape {

int64_t Dim::value() const {
  if (node_ == nullptr) return value_;
  require_size(*this);
  throw TraceError(
      fmt::format("Dim::value: the size \"{}\" is symbolic and has no value yet; expected a constant. Keep it as a Dim, or call "
                  "specialize() to fix it in this trace.",
                  to_string(*this)));
}

int64_t Dim::specialize() const {
  if (node_ == nullptr) return value_;
  require_size(*this);
  if (DimJudge* judge = current_judge()) return judge->specialize(*this);
  throw TraceError(
      fmt::format("Dim::specialize: the size \"{}\" is used outside its trace; expected a call inside the traced function. "
                  "A symbolic size must not leave the function that made it.",
                  to_string(*this)));
}

bool Dim::same_as(const Dim& other) const {
  if (node_ == other.node_) return node_ != nullptr || value_ == other.value_;
  if (node_ == nullptr || other.node_ == nullptr || node_->hash != other.node_->hash) return false;
  return compare_structure(*this, other) == 0;
}

int64_t Dim::lower_bound() const { return node_ == nullptr ? value_ : node_->range.low; }
int64_t Dim::upper_bound() const { return node_ == nullptr ? value_ : node_->range.high; }

Dim operator+(const Dim& a, const Dim& b) {
  const int64_t constant = checked_add(constant_of(a), constant_of(b), "size expression");
  if (a.is_constant() && b.is_constant()) return constant;
  std::vector<Term> terms = terms_of(a);
  const std::vector<Term> more = terms_of(b);
  terms.insert(terms.end(), more.begin(), more.end());
  return make_sum(std::move(terms), constant);
}

Dim operator-(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_subtract(a.value(), b.value(), "size expression");
  std::vector<Term> terms = terms_of(a);
  for (Term& term : terms_of(b)) {
    term.coefficient = checked_subtract(0, term.coefficient, "size expression");
    terms.push_back(std::move(term));
  }
  return make_sum(std::move(terms), checked_subtract(constant_of(a), constant_of(b), "size expression"));
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_multiply(a.value(), b.value(), "size expression");
  std::vector<Term> left = terms_of(a), right = terms_of(b);
  if (const int64_t constant = constant_of(a)) left.push_back({constant, {}});
  if (const int64_t constant = constant_of(b)) right.push_back({constant, {}});
  if (left.size() > 1 && right.size() > 1) require_term_count(left.size() * right.size());
  std::vector<Term> terms;
  for (const Term& x : left) {
    for (const Term& y : right) terms.push_back(multiply(x, y));
  }
  return make_sum(std::move(terms), 0);
}

bool operator==(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return a.value() == b.value();
  return decide(Relation::Equal, a, b);
}

bool operator<(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return a.value() < b.value();
  return decide(Relation::Less, a, b);
}

}  // namespace anyshape
