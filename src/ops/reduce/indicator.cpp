// indicator: b8 -> 1 where true and 0 elsewhere, as i32, for a sum of so many of them that an i32 can hold it.
#include "ops/reduce/indicator.h"
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace anyshape {
namespace {

struct IndicatorAttrs {
  Dim count;  // that are added up
  template <class V>
  void visit(V& v) {
    v("count", count);
  }
};

constexpr int64_t most = std::numeric_limits<int32_t>::max();

Specs shape(OpCall& call) {
  const Dim& count = call.attrs_as<IndicatorAttrs>().count;
  call.require({Relation::LessEqual, count, most}, fmt::format("{} truth values do not add up in i32", to_string(count)),
               fmt::format("at most {} of them. Use count_nonzero(x), which counts in i64", most));
  return {{Dtype::i32, call.shape(0), {}}};
}

loop::Value element(ElementCall& call) { return call.b.cast(call.operand(0), Dtype::i32); }

}  // namespace

constinit const OpDef indicator_op{.name = "indicator",
                                   .kind = OpKind::Elementwise,
                                   .inputs = 1,
                                   .dtype = dtype_rule::logical,
                                   .shape = shape,
                                   .ragged = RaggedPolicy::Values,
                                   .element = element,
                                   .attrs = [] { return Attrs(IndicatorAttrs{}); }};

// A sum along the rows or the ragged axis, or both, adds at most what all rows have.
static Dim most_added(const Tensor& x, std::span<const int64_t> axes) {
  const Shape shape = x.is_ragged() ? x.values().shape() : x.shape();
  const int behind = x.is_ragged() ? 1 : 0;  // rows and the ragged axis are one axis of the values
  std::array<bool, max_rank> is_added{};
  for (const int64_t axis : axes) {
    const int64_t own = std::max<int64_t>(axis - behind, 0);
    if (axis >= 0 && own < shape.rank()) is_added[static_cast<size_t>(own)] = true;
  }
  Dim count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) count = is_added[static_cast<size_t>(axis)] ? count * shape[axis] : count;
  return count;
}

bool adds_up_in_i32(const Tensor& x, std::span<const int64_t> axes) {
  const Dim count = most_added(x, axes);
  return count.is_constant() && count.value() <= most;
}

// Where the count is known to be small, the op's own dtype rule casts.
Tensor addable(const Tensor& x, std::span<const int64_t> axes) {
  if (!x.defined() || x.dtype() != Dtype::b8 || adds_up_in_i32(x, axes)) return x;
  return bind(indicator_op, {x}, IndicatorAttrs{most_added(x, axes)});
}

}  // namespace anyshape
