// Relations between sizes, on values and as text.
#include "shape/size_check.h"

#include <fmt/format.h>

#include "shape/evaluate.h"

namespace anyshape {

bool holds(Relation relation, int64_t a, int64_t b) {
  switch (relation) {
    case Relation::Equal: return a == b;
    case Relation::NotEqual: return a != b;
    case Relation::Less: return a < b;
    case Relation::LessEqual: return a <= b;
    case Relation::Broadcastable: return a == b || a == 1 || b == 1;
  }
  return false;
}

bool SizeCheck::holds(const Bindings& values) const { return anyshape::holds(relation, evaluate(a, values), evaluate(b, values)); }

bool SizeCheck::same_as(const SizeCheck& other) const { return relation == other.relation && a.same_as(other.a) && b.same_as(other.b); }

std::string to_string(Relation relation) {
  switch (relation) {
    case Relation::Equal: return "==";
    case Relation::NotEqual: return "!=";
    case Relation::Less: return "<";
    case Relation::LessEqual: return "<=";
    case Relation::Broadcastable: return "broadcasts with";
  }
  return "?";
}

std::string to_string(const SizeCheck& check) {
  return fmt::format("{} {} {}", to_string(check.a), to_string(check.relation), to_string(check.b));
}

}  // namespace anyshape
