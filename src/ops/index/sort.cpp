// sort and top_k: x -> values in order along an axis (top_k: the first k) and where they stood, as i32. Stable, NaN last in both directions.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/index/take_along_axis.h"
#include "ops/ragged/rules.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

struct SortAttrs {
  int64_t axis = -1;
  bool descending = false;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("descending", descending);
  }
};

struct TopKAttrs {
  int64_t axis = -1;
  Dim k;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
    v("k", k);
  }
};

// Values and indices; `count` of them along the axis.
Specs ordered(OpCall& call, int along, const Dim& count) {
  call.require({Relation::LessEqual, call.shape(0)[along], std::numeric_limits<int32_t>::max()}, "the axis is too long for i32 indices",
               "at most 2147483647 elements along the axis");
  Shape result = call.shape(0);
  result[along] = count;
  return {{call.inputs[0].dtype, result, {}}, {Dtype::i32, result, {}}};
}

Specs sort_shape(OpCall& call) {
  const int along = call.axis(call.attrs_as<SortAttrs>().axis, call.shape(0).rank());
  return ordered(call, along, call.shape(0)[along]);
}

Specs top_k_shape(OpCall& call) {
  const TopKAttrs& attrs = call.attrs_as<TopKAttrs>();
  const int along = call.axis(attrs.axis, call.shape(0).rank());
  const std::string what = fmt::format("k is {}", to_string(attrs.k));
  call.require({Relation::LessEqual, 0, attrs.k}, what, "0 <= k <= the size of the axis");
  call.require({Relation::LessEqual, attrs.k, call.shape(0)[along]}, what, "0 <= k <= the size of the axis");
  return ordered(call, along, attrs.k);
}

void lower_ordered(LowerCall& call, int along, bool descending) {
  const Shape &from = call.call.shape(0), &to = call.outputs[0].shape;
  const Dtype dtype = call.outputs[0].dtype;
  const SortSizes<Dim> sizes{.outer = count_between(from, 0, along),
                             .size = from[along],
                             .count = to[along],
                             .inner = count_between(from, along + 1, from.rank())};
  call.use_library(SortWork{.dtype = dtype, .descending = descending, .sizes = sizes},
                   {{Dtype::i64, from.count() * SortWork::key_words(dtype)}});
}

void lower_sort(LowerCall& call) {
  const SortAttrs& attrs = call.call.attrs_as<SortAttrs>();
  lower_ordered(call, call.call.axis(attrs.axis, call.call.shape(0).rank()), attrs.descending);
}

void lower_top_k(LowerCall& call) {
  lower_ordered(call, call.call.axis(call.call.attrs_as<TopKAttrs>().axis, call.call.shape(0).rank()), true);
}

template <class A>
std::vector<Tensor> gradient(const GradientCall& call) {
  return {take_along_axis_gradient(call.dys[0], call.outputs[1], call.attrs.as<A>().axis, call.inputs[0].shape())};
}

std::vector<Tensor> in_rows_of(const Tensor& x, std::vector<Tensor> results) {
  for (Tensor& result : results) result = make_ragged(result, as_ragged(x)->partition);
  return results;
}

std::vector<Tensor> sort_ragged(const RaggedCall& call) {
  const SortAttrs& attrs = call.attrs.as<SortAttrs>();
  const Tensor &x = call.inputs[0], values = x.values();
  const int axis = padded_axis(call, attrs.axis, x.rank());
  if (axis == 0) refuse(call, "the axis is that of the rows", "the ragged axis or one behind it");
  if (axis > 1) return in_rows_of(x, bind_all(call.op, {&values, 1}, SortAttrs{axis - 1, attrs.descending}));
  const segment::SortOptions options{.descending = attrs.descending};
  return in_rows_of(x, {segment::sort(values, x.row_splits(), options), segment::argsort(values, x.row_splits(), options)});
}

// Rows may have fewer than k elements.
std::vector<Tensor> top_k_ragged(const RaggedCall& call) {
  const TopKAttrs& attrs = call.attrs.as<TopKAttrs>();
  const Tensor &x = call.inputs[0], values = x.values();
  const int axis = padded_axis(call, attrs.axis, x.rank());
  if (axis < 2) refuse(call, "the axis is that of the rows or the ragged one", "an axis behind the ragged one, or to_padded(x)");
  return in_rows_of(x, bind_all(call.op, {&values, 1}, TopKAttrs{axis - 1, attrs.k}));
}

std::vector<Tensor> sorted(const Tensor& x, const SortOptions& options) {
  return bind_all(sort_op, {&x, 1}, SortAttrs{options.axis, options.descending});
}

}  // namespace

constinit const OpDef sort_op{.name = "sort",
                              .kind = OpKind::Opaque,
                              .inputs = 1,
                              .dtype = dtype_rule::any,
                              .shape = sort_shape,
                              .ragged = RaggedPolicy::PerRow,
                              .ragged_rule = sort_ragged,
                              .gradient = gradient<SortAttrs>,
                              .lower = lower_sort,
                              .attrs = [] { return Attrs(SortAttrs{}); }};

constinit const OpDef top_k_op{.name = "top_k",
                               .kind = OpKind::Opaque,
                               .inputs = 1,
                               .dtype = dtype_rule::any,
                               .shape = top_k_shape,
                               .ragged = RaggedPolicy::PerRow,
                               .ragged_rule = top_k_ragged,
                               .gradient = gradient<TopKAttrs>,
                               .lower = lower_top_k,
                               .attrs = [] { return Attrs(TopKAttrs{}); }};

Tensor sort(const Tensor& x, SortOptions options) { return sorted(x, options)[0]; }
Tensor argsort(const Tensor& x, SortOptions options) {
  const NamedCall call("argsort", x);
  return sorted(x, options)[1];
}

TopK top_k(const Tensor& x, const Dim& k, AxisOptions options) {
  const std::vector<Tensor> found = bind_all(top_k_op, {&x, 1}, TopKAttrs{options.axis, k});
  return {found[0], found[1]};
}

}  // namespace anyshape
