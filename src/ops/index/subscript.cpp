// x[index], x.at(...), updated(x, ...): indices and ranges of axes as slices without the axes that go, tensors as take.
#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/movement/pad.h"
#include "ops/movement/slice.h"
#include "ops/ragged/rules.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace anyshape {
namespace {

using Kind = Index::Kind;

// One index for each axis: the ellipsis and the axes behind the last index are whole.
std::vector<Index> for_each_axis(const NamedCall& call, int rank, std::span<const Index> given) {
  const auto is_ellipsis = [](const Index& each) { return each.kind() == Kind::Ellipsis; };
  const auto between = std::ranges::find_if(given, is_ellipsis);
  const auto named = static_cast<int>(given.size()) - (between != given.end() ? 1 : 0);
  if (std::ranges::count_if(given, is_ellipsis) > 1) call.fail_argument("two ellipses among the indices", "at most one");
  if (named > rank) call.fail(fmt::format("{} indices for {} axes", named, rank), "at most one index per axis");
  std::vector<Index> indices(given.begin(), between);
  const std::span<const Index> behind = between == given.end() ? std::span<const Index>() : given.subspan(indices.size() + 1);
  indices.resize(static_cast<size_t>(rank) - behind.size());
  indices.insert(indices.end(), behind.begin(), behind.end());
  return indices;
}

SliceRange range_of(const Index& index) { return {index.begin(), index.end(), index.step()}; }

// An index as a range of one element.
void append_index(const NamedCall& call, SliceAttrs& attrs, const Dim& index, int axis, const Dim& size) {
  if (index.is_constant() && size.is_constant() && (index.value() < -size.value() || index.value() >= size.value())) {
    call.fail(fmt::format("index {} along axis {} is outside", index.value(), axis),
              size.value() == 0 ? "an axis with elements" : fmt::format("{} <= index < {}", -size.value(), size.value()));
  }
  attrs.begins.push_back(index.is_constant() && index.value() < 0 ? size + index : index);
  attrs.sizes.push_back(1);
  attrs.steps.push_back(1);
}

// What indices and ranges name of a dense tensor; axes of indices have size 1.
SliceAttrs slice_of(const NamedCall& call, const Shape& shape, const std::vector<Index>& indices) {
  SliceAttrs attrs;
  size_t count = indices.size();
  while (count > 0 && indices[count - 1].kind() != Kind::At && indices[count - 1].kind() != Kind::Range) --count;
  for (size_t i = 0; i < count; ++i) {
    const int axis = static_cast<int>(i);
    if (indices[i].kind() == Kind::At) {
      append_index(call, attrs, indices[i].at(), axis, shape[axis]);
    } else {
      append_range(attrs, indices[i].kind() == Kind::Range ? range_of(indices[i]) : SliceRange{}, shape[axis]);
    }
  }
  return attrs;
}

Shape without_indexed(const Shape& shape, const std::vector<Index>& indices) {
  Shape kept;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (indices[static_cast<size_t>(axis)].kind() != Kind::At) kept.push_back(shape[axis]);
  }
  return kept;
}

bool is_whole(const Index& index) { return index.kind() == Kind::Whole; }

// Rows named by a tensor along one axis; a mask only where it is all there is.
Tensor take_at(const NamedCall& call, const Tensor& x, int axis, const Tensor& given, bool is_alone) {
  if (given.dtype() != Dtype::b8) return take(x, given, {.axis = axis});
  if (!is_alone || axis != 0) call.fail_argument("a mask beside other indices", "a mask alone: x[mask]. Use boolean_mask first");
  return boolean_mask(x, given);
}

Tensor subscript_dense(const NamedCall& call, const Tensor& x, const std::vector<Index>& indices) {
  const auto is_tensor = [](const Index& index) { return index.kind() == Kind::Tensor; };
  const auto tensors = std::ranges::count_if(indices, is_tensor);
  if (tensors > 1) call.fail_argument("two tensors among the indices", "at most one. Use gather_nd for indices along several axes");
  Tensor part = x;
  SliceAttrs attrs = slice_of(call, x.shape(), indices);
  if (!attrs.begins.empty()) part = bind(slice_op, {x}, std::move(attrs));
  if (std::ranges::any_of(indices, [](const Index& index) { return index.kind() == Kind::At; })) {
    part = reshape(part, without_indexed(part.shape(), indices));
  }
  if (tensors == 0) return part;
  const auto tensor = std::ranges::find_if(indices, is_tensor);
  const auto gone = std::count_if(indices.begin(), tensor, [](const Index& index) { return index.kind() == Kind::At; });
  const bool is_alone = std::ranges::count_if(indices, is_whole) + 1 == static_cast<std::ptrdiff_t>(indices.size());
  return take_at(call, part, static_cast<int>(tensor - indices.begin() - gone), tensor->indices(), is_alone);
}

// A position that every row has. Inside a trace the lengths are data: take looks at them when it runs.
void require_in_rows(const NamedCall& call, const Tensor& x, int64_t index) {
  const Partition& partition = *as_ragged(x)->partition;
  if (!partition.is_concrete() || partition.host_splits().size() == 1) return;
  const int64_t shortest = partition.shortest.value();
  if (index >= -shortest && index < shortest) return;
  call.fail(fmt::format("index {} along axis 1 is outside of a row", index),
            shortest == 0 ? "rows with elements" : fmt::format("{} <= index < {}, as the shortest row has it", -shortest, shortest));
}

// First what the values have for themselves, then rows, then what is inside of each.
Tensor subscript_ragged(const NamedCall& call, const Tensor& x, const std::vector<Index>& indices) {
  const Index &rows = indices[0], &inside = indices[1];
  Tensor part = x;
  if (!std::all_of(indices.begin() + 2, indices.end(), is_whole)) {
    std::vector<Index> own(indices.begin() + 1, indices.end());
    own[0] = {};
    part = on_values(x, [&](const Tensor& values) { return subscript_dense(call, values, own); });
  }
  if (rows.kind() == Kind::At) {
    const Tensor row = row_under_name(call.name(), part, rows.at().value());
    std::vector<Index> in_row(static_cast<size_t>(row.rank()));
    in_row[0] = inside;
    return subscript_dense(call, row, in_row);
  }
  if (rows.kind() == Kind::Tensor) part = take_at(call, part, 0, rows.indices(), false);
  if (rows.kind() == Kind::Range) part = slice_ragged(part, {range_of(rows)});
  if (inside.kind() == Kind::Range) part = slice_ragged(part, {{}, range_of(inside)});
  if (inside.kind() == Kind::At) {
    require_in_rows(call, part, inside.at().value());
    part = take(part, full({part.shape()[0]}, inside.at().value(), {.dtype = Dtype::i64}), {.axis = 1, .batch_dims = 1});
  }
  if (inside.kind() == Kind::Tensor) {
    call.fail("a tensor for the ragged axis 1",
              "a number or a range. Use take(x, indices, {.axis = 1, .batch_dims = 1}) for positions in each row");
  }
  return part;
}

Tensor subscript(std::string_view name, const Tensor& x, std::span<const Index> given) {
  const NamedCall call(name, x);
  const std::vector<Index> indices = for_each_axis(call, x.rank(), given);
  return x.is_ragged() ? subscript_ragged(call, x, indices) : subscript_dense(call, x, indices);
}

// b8, of x's rank and broadcasting with it: which elements a slice names. Made of counting and comparing only, so that it costs no memory.
Tensor is_inside(const Shape& shape, const SliceAttrs& attrs) {
  Tensor inside = true;
  for (int axis = 0; axis < static_cast<int>(attrs.begins.size()); ++axis) {
    const Dim &size = shape[axis], &begin = attrs.begins[axis], &count = attrs.sizes[axis];
    const int64_t step = attrs.steps[axis];
    if (begin.same_as(0) && count.same_as(size) && step == 1) continue;
    const Dim last = begin + (count - 1) * step, first = step > 0 ? begin : last, end = (step > 0 ? last : begin) + 1;
    const Tensor from_first = arange(Dim(0) - first, size - first, {.dtype = Dtype::i64});
    Tensor here = logical_and(from_first >= 0, arange(Dim(0) - end, size - end, {.dtype = Dtype::i64}) < 0);
    if (std::abs(step) != 1) here = logical_and(here, from_first % std::abs(step) == 0);
    Shape along;
    for (int each = 0; each < shape.rank(); ++each) along.push_back(each == axis ? size : Dim(1));
    inside = logical_and(inside, reshape(here, along));
  }
  return inside;
}

Tensor update(const Tensor& x, std::span<const Index> given, const Tensor& value) {
  const NamedCall call("updated", x, value);
  if (x.is_ragged() || value.is_ragged()) {
    call.fail("a ragged tensor", "dense ones. Update the elements of all rows: with_rows_of(updated(x.values(), ...), x)");
  }
  const std::vector<Index> indices = for_each_axis(call, x.rank(), given);
  if (std::ranges::any_of(indices, [](const Index& index) { return index.kind() == Kind::Tensor; })) {
    call.fail_argument("a tensor among the indices",
                       "numbers and ranges. Use scatter_add for indices that are data, or where(mask, value, x)");
  }
  const Dtype dtype = x.dtype();
  if (promote({dtype, false}, {value.dtype(), value.impl()->weak}) != dtype) {
    call.fail_dtype(fmt::format("the value is {}", to_string(value.dtype())),
                    fmt::format("{0} or what becomes it. Use cast(value, {0})", to_string(dtype)));
  }
  const Tensor given_value = cast(value, dtype);
  SliceAttrs attrs = slice_of(call, x.shape(), indices);
  if (attrs.begins.empty()) return broadcast_to(given_value, x.shape());
  const Shape part = bind(slice_op, {x}, attrs).shape();  // what it refuses and checks holds here, too
  const Tensor inside = is_inside(x.shape(), attrs);
  if (given_value.rank() == 0) return where(inside, given_value, x);
  const Tensor placed = reshape(broadcast_to(given_value, without_indexed(part, indices)), part);
  return where(inside, place_among_zeros(placed, PadAttrs{attrs.begins, attrs.steps, x.shape()}), x);
}

}  // namespace

Tensor Tensor::operator[](const Index& index) const { return subscript("operator[]", *this, {&index, 1}); }

Tensor Tensor::at(const Index& axis0) const { return subscript("at", *this, anyshape::at(axis0).axes); }
Tensor Tensor::at(const Index& axis0, const Index& axis1) const { return subscript("at", *this, anyshape::at(axis0, axis1).axes); }
Tensor Tensor::at(const Index& axis0, const Index& axis1, const Index& axis2) const {
  return subscript("at", *this, anyshape::at(axis0, axis1, axis2).axes);
}
Tensor Tensor::at(const Index& axis0, const Index& axis1, const Index& axis2, const Index& axis3) const {
  return subscript("at", *this, anyshape::at(axis0, axis1, axis2, axis3).axes);
}
Tensor Tensor::at(const Index& axis0, const Index& axis1, const Index& axis2, const Index& axis3, const Index& axis4, const Index& axis5,
                  const Index& axis6, const Index& axis7) const {
  return subscript("at", *this, anyshape::at(axis0, axis1, axis2, axis3, axis4, axis5, axis6, axis7).axes);
}

Indices at(const Index& axis0) { return {{axis0}}; }
Indices at(const Index& axis0, const Index& axis1) { return {{axis0, axis1}}; }
Indices at(const Index& axis0, const Index& axis1, const Index& axis2) { return {{axis0, axis1, axis2}}; }
Indices at(const Index& axis0, const Index& axis1, const Index& axis2, const Index& axis3) { return {{axis0, axis1, axis2, axis3}}; }
Indices at(const Index& axis0, const Index& axis1, const Index& axis2, const Index& axis3, const Index& axis4, const Index& axis5,
           const Index& axis6, const Index& axis7) {
  std::vector<Index> axes = {axis0, axis1, axis2, axis3, axis4, axis5, axis6, axis7};
  while (axes.size() > 5 && is_whole(axes.back())) axes.pop_back();  // not given
  return {std::move(axes)};
}

Tensor updated(const Tensor& x, const Index& index, const Tensor& value) { return update(x, {&index, 1}, value); }
Tensor updated(const Tensor& x, const Indices& indices, const Tensor& value) { return update(x, indices.axes, value); }

// A tensor of a trace becomes one that lies in row-major order. Joining one part is a copy that tapes know.
Tensor row_major(const Tensor& x) {
  const NamedCall call("row_major", x);
  if (x.is_ragged()) return on_values(x, row_major);
  return is_traced(x) || is_contiguous(*x.impl()) ? x : concat({x});
}

}  // namespace anyshape
