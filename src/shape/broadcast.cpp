// Broadcasting of two shapes axis by axis, from the last.
#include "shape/broadcast.h"

#include <algorithm>

namespace anyshape {
namespace {

struct Prover {
  const Facts* facts;
  std::optional<bool> equal(const Dim& a, const Dim& b) const { return facts != nullptr ? facts->proves_equal(a, b) : proves_equal(a, b); }
};

// Adds the check that the pair needs, if any. Nothing: no sizes make it right.
std::optional<Dim> broadcast_axis(const Dim& a, const Dim& b, const Prover& prover, std::vector<SizeCheck>& checks) {
  if (a.same_as(b)) return a;
  const std::optional<bool> equal = prover.equal(a, b);
  if (equal == true) return b.is_constant() ? b : a;
  const std::optional<bool> a_is_one = prover.equal(a, 1), b_is_one = prover.equal(b, 1);
  if (a_is_one == true) return b;
  if (b_is_one == true) return a;
  const bool neither_is_one = a_is_one == false && b_is_one == false;
  if (neither_is_one && equal == false) return std::nullopt;
  const SizeCheck check{neither_is_one ? Relation::Equal : Relation::Broadcastable, a, b};
  const bool known = prover.facts != nullptr && prover.facts->proves(check.relation, a, b) == true;
  const bool noted = std::any_of(checks.begin(), checks.end(), [&](const SizeCheck& other) { return other.same_as(check); });
  if (!known && !noted) checks.push_back(check);
  if (a_is_one == false && b_is_one == false) return b.is_constant() ? b : a;
  if (a_is_one == false) return a;
  if (b_is_one == false) return b;
  return bcast(a, b);
}

}  // namespace

std::optional<Broadcast> broadcast(const Shape& a, const Shape& b, const Facts* facts) {
  const Prover prover{facts};
  const int rank = std::max(a.rank(), b.rank());
  Broadcast result;
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank()), in_b = axis - (rank - b.rank());
    if (in_a < 0 || in_b < 0) {
      result.shape.push_back(in_a < 0 ? b[in_b] : a[in_a]);
      continue;
    }
    std::optional<Dim> size = broadcast_axis(a[in_a], b[in_b], prover, result.checks);
    if (!size) return std::nullopt;
    result.shape.push_back(facts != nullptr ? facts->simplify(*size) : *size);
  }
  return result;
}

std::optional<Broadcast> broadcast(std::span<const Shape> shapes, const Facts* facts) {
  Broadcast result;
  for (const Shape& shape : shapes) {
    std::optional<Broadcast> next = broadcast(result.shape, shape, facts);
    if (!next) return std::nullopt;
    result.shape = std::move(next->shape);
    result.checks.insert(result.checks.end(), next->checks.begin(), next->checks.end());
  }
  return result;
}

}  // namespace anyshape
