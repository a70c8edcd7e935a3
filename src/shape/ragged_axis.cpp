// The ragged axis of a shape: made, told apart and refused as a number.
#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "shape/dim_node.h"
#include "shape/ragged_refusal.h"

namespace anyshape {

Dim make_ragged_axis(RaggedAxis axis) {
  auto node = std::make_shared<DimNode>();
  const int64_t least = range_of(axis.shortest).low, most = range_of(axis.longest).high;
  node->range = {std::max<int64_t>(least, 0), std::max<int64_t>(most, 0)};
  node->hash = std::hash<const void*>{}(node.get());
  node->ragged = std::make_shared<const RaggedAxis>(std::move(axis));
  return Dim(std::move(node));
}

const RaggedAxis* as_ragged_axis(const Dim& dim) { return dim.is_constant() ? nullptr : dim.node()->ragged.get(); }

bool Dim::is_ragged() const { return as_ragged_axis(*this) != nullptr; }

namespace {

RaggedRefusal refusal = nullptr;

}  // namespace

void set_ragged_refusal(RaggedRefusal refuse) { refusal = refuse; }

void require_size(const Dim& dim) {
  if (!dim.is_ragged()) return;
  if (refusal != nullptr) refusal(dim);
  throw ShapeError(
      fmt::format("Dim: the ragged axis {} has no single size: every row has its own; expected a size. Use row_lengths(x) for the rows' "
                  "lengths, or to_padded(x) for a tensor that has one.",
                  to_string(dim)));
}

Dim ragged_dim(std::string name, DimOptions options) {
  if (!name.empty()) static_cast<void>(make_symbol(name, options));  // the same rules for names and ranges
  return make_ragged_axis({.name = std::move(name), .options = options, .shortest = options.min, .longest = options.max});
}

}  // namespace anyshape
