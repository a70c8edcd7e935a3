// What can be said about sizes before they are known: by normal form, ranges and divisibility, and by equalities that were checked.
#pragma once
#include <anyshape/dim.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "shape/size_check.h"
#include "shape/substitute.h"

namespace anyshape {

// true or false for every value of the symbols, or no answer.
std::optional<bool> proves_equal(const Dim& a, const Dim& b);
std::optional<bool> proves_less(const Dim& a, const Dim& b);
std::optional<bool> proves_less_equal(const Dim& a, const Dim& b);
std::optional<bool> proves(Relation relation, const Dim& a, const Dim& b);

// What is known at one place of a trace besides the symbols' own ranges. A copy is what a branch starts from.
class Facts {
 public:
  void assume_equal(const Dim& a, const Dim& b);     // the later symbol is replaced by the earlier size from here on
  void assume_at_least(const Dim& a, const Dim& b);  // a >= b
  void assume(const SizeCheck& check);

  Dim simplify(const Dim& dim) const;  // the same size, with what is known put in
  std::optional<bool> proves_equal(const Dim& a, const Dim& b) const;
  std::optional<bool> proves_less(const Dim& a, const Dim& b) const;
  std::optional<bool> proves_less_equal(const Dim& a, const Dim& b) const;
  std::optional<bool> proves(Relation relation, const Dim& a, const Dim& b) const;
  bool empty() const { return symbols_.empty() && rewrites_.empty() && not_negative_.empty(); }

 private:
  struct Rewrite {
    Dim monomial;  // one term with coefficient 1
    Dim replacement;
  };
  void replace_symbol(const Dim& symbol, const Dim& replacement);
  Dim reduce(const Dim& dim) const;

  Substitution symbols_;              // fully simplified: no replaced symbol occurs in a replacement
  std::vector<Rewrite> rewrites_;     // equalities that no symbol can be solved for
  std::vector<Dim> not_negative_;     // sizes known to be >= 0
  std::vector<SizeCheck> relations_;  // NotEqual and Broadcastable, as given
};

}  // namespace anyshape
