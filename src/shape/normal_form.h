// Making normal forms: the only place that builds a DimNode. Used by the operators on Dim; everything else uses those.
#pragma once
#include <anyshape/error.h>

#include <optional>
#include <string>
#include <vector>

#include "shape/dim_node.h"

namespace anyshape {

// The sum in normal form: terms sorted, equal ones joined. Each term's factors are sorted already.
// ShapeError where a coefficient overflows or the sum grows beyond what any program needs.
Dim make_sum(std::vector<Term> terms, int64_t constant);

// The same as a sum only: what could be said as a min or max stays. For proofs, which look for what cancels.
Dim make_plain_sum(std::vector<Term> terms, int64_t constant);

// An atom with operands as they are: folding is its maker's business.
Dim make_atom(AtomKind kind, std::vector<Dim> operands);

std::vector<Term> terms_of(const Dim& dim);
int64_t constant_of(const Dim& dim);  // the part without symbols

// An expression that has grown beyond what any program needs. The text says what to do about it, and in a trace who computes with it.
class SizeTooLarge : public ShapeError {
 public:
  using ShapeError::ShapeError;
};
[[noreturn]] void throw_too_large(const std::string& what);

Term multiply(const Term& a, const Term& b);
void require_term_count(size_t count);  // ShapeError for more terms than any program needs, before memory is spent on them
std::optional<Term> divide_exactly(const Term& a, const Term& b);  // a / b as a monomial, where it is one
int64_t divisor_of(const Term& term);                              // every value is a multiple of it

// Polynomial division by the leading term: a == quotient * b + remainder.
struct Division {
  Dim quotient;
  Dim remainder;
};
Division divide_polynomials(const Dim& a, const Dim& b);

int64_t greatest_common_divisor(int64_t a, int64_t b);  // not negative; of (0, b): |b|

}  // namespace anyshape
