// What the reductions along named axes share: their attributes, the shape rule and which axes go.
#pragma once
#include "graph/op_def.h"

#include <anyshape/ops.h>

namespace anyshape {

struct ReduceAttrs {
  std::vector<int64_t> axes;
  bool keep_dims = false;
  template <class V>
  void visit(V& v) {
    v("axes", axes);
    v("keep_dims", keep_dims);
  }
};

[[noreturn]] void refuse_axis_beside_axes(const Tensor& x, int64_t axis);

// The axes that `axes` or `axis` names; ArgumentError where both are given.
template <class Options>
Axes axes_of(const Tensor& x, const Options& options) {
  if (!options.axis) return options.axes;
  if (options.axes.has_value()) refuse_axis_beside_axes(x, *options.axis);
  return {*options.axis};
}

// Axes as the options say, counted from the front; what lies outside the rank stays for the shape rule to refuse.
ReduceAttrs reduce_attrs(const Tensor& x, const ReduceOptions& options);

Specs reduce_shape(OpCall& call);  // ShapeError for axes outside the rank or named twice
std::vector<AxisFate> reduce_fates(const OpCall& call);
Shape kept_shape(const Shape& shape, const std::vector<int64_t>& axes);   // the axes' sizes made 1, for valid axes
Dim reduced_count(const Shape& shape, const std::vector<int64_t>& axes);  // elements that make one, for valid axes

// The frame of a reduction along named axes.
constexpr OpDef reduction(std::string_view name, DtypeRule dtype, const ReduceRule& rule, RaggedRule ragged_rule,
                          GradientRule gradient = nullptr, OpTraits traits = {}) {
  return {.name = name,
          .kind = OpKind::Reduce,
          .inputs = 1,
          .dtype = dtype,
          .shape = reduce_shape,
          .ragged = RaggedPolicy::PerRow,
          .ragged_rule = ragged_rule,
          .gradient = gradient,
          .reduce = &rule,
          .attrs = [] { return Attrs(ReduceAttrs{}); },
          .traits = traits};
}

// Calls one as the options say; where no axis is named, x in the dtype of the result.
Tensor reduced(const OpDef& op, const Tensor& x, const ReduceOptions& options);

}  // namespace anyshape
