// diagonal: [..., rows, columns] -> [..., n], and diagonal_matrix: back, among zeros. Each is the other's gradient.
#include "ops/movement/diagonal.h"
#include "graph/named_call.h"

#include "graph/bind.h"
#include "graph/dtype_rules.h"
#include "loop/element.h"
#include "ops/all_ops.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <limits>

namespace anyshape {
namespace {

struct DiagonalAttrs {
  Dim row, column;  // where the diagonal begins; one of them is 0
  template <class V>
  void visit(V& v) {
    v("row", row);
    v("column", column);
  }
};

struct DiagonalMatrixAttrs {
  Dim row, column;
  Dim rows, columns;  // of the matrix
  template <class V>
  void visit(V& v) {
    v("row", row);
    v("column", column);
    v("rows", rows);
    v("columns", columns);
  }
};

Dim size_from(const Dim& rows, const Dim& columns, const Dim& row, const Dim& column) { return max(min(rows - row, columns - column), 0); }

void require_begin(OpCall& call, const Dim& row, const Dim& column) {
  for (const Dim& begin : {row, column}) {
    call.require({Relation::LessEqual, 0, begin}, fmt::format("the diagonal begins at {}", to_string(begin)), "an index of at least 0");
  }
}

Specs diagonal_shape(OpCall& call) {
  const DiagonalAttrs& attrs = call.attrs_as<DiagonalAttrs>();
  const Shape& from = call.shape(0);
  if (from.rank() < 2) call.fail("no matrix", "at least 2 axes");
  require_begin(call, attrs.row, attrs.column);
  Shape result;
  for (int axis = 0; axis + 2 < from.rank(); ++axis) result.push_back(from[axis]);
  result.push_back(size_from(from[-2], from[-1], attrs.row, attrs.column));
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

loop::Value diagonal_element(ElementCall& call) {
  const DiagonalAttrs& attrs = call.call.attrs_as<DiagonalAttrs>();
  std::vector<loop::Value> index(call.index.begin(), call.index.end());
  const loop::Value along = index.back();
  index.back() = call.b.add(along, call.size(attrs.row));
  index.push_back(call.b.add(along, call.size(attrs.column)));
  return call.input(0, index);
}

std::vector<Tensor> diagonal_gradient(const GradientCall& call) {
  const DiagonalAttrs& attrs = call.attrs.as<DiagonalAttrs>();
  const Shape from = call.inputs[0].shape();
  return {bind(diagonal_matrix_op, {call.dys[0]}, DiagonalMatrixAttrs{attrs.row, attrs.column, from[-2], from[-1]})};
}

Specs matrix_shape(OpCall& call) {
  const DiagonalMatrixAttrs& attrs = call.attrs_as<DiagonalMatrixAttrs>();
  const Shape& from = call.shape(0);
  if (from.rank() < 1) call.fail("no vector", "at least 1 axis");
  require_begin(call, attrs.row, attrs.column);
  call.require({Relation::Equal, from[-1], size_from(attrs.rows, attrs.columns, attrs.row, attrs.column)},
               fmt::format("the diagonal of [{}, {}] has another size", to_string(attrs.rows), to_string(attrs.columns)),
               "as many elements as the diagonal has");
  Shape result = from;
  result[-1] = attrs.rows;
  result.push_back(attrs.columns);
  require_sizes(call, result);
  return {{call.inputs[0].dtype, std::move(result), {}}};
}

// Outside the diagonal some element is read and not used; of no elements at all, what stands behind them.
loop::Value matrix_element(ElementCall& call) {
  const DiagonalMatrixAttrs& attrs = call.call.attrs_as<DiagonalMatrixAttrs>();
  loop::Builder& b = call.b;
  std::vector<loop::Value> index(call.index.begin(), call.index.end() - 1);
  const loop::Value along = b.subtract(index.back(), call.size(attrs.row)), column = b.subtract(call.index.back(), call.size(attrs.column));
  const loop::Value size = call.size(call.call.shape(0)[-1]);
  index.back() = b.maximum(b.minimum(along, b.subtract(size, b.integer(1))), b.integer(0));
  const loop::Value inside = b.binary(loop::Op::And, b.equal(along, column), b.binary(loop::Op::LessEqual, b.integer(0), along));
  return b.select(inside, call.input(0, index), b.constant(call.output.dtype, int64_t{0}));
}

std::vector<Tensor> matrix_gradient(const GradientCall& call) {
  const DiagonalMatrixAttrs& attrs = call.attrs.as<DiagonalMatrixAttrs>();
  return {bind(diagonal_op, {call.dys[0]}, DiagonalAttrs{attrs.row, attrs.column})};
}

DiagonalAttrs begin_of(int64_t offset) { return {offset < 0 ? Dim(0) - offset : Dim(0), offset > 0 ? Dim(offset) : Dim(0)}; }

// Where rows are at or past a column's position relative to the diagonal.
Tensor is_on_or_below(const NamedCall& call, const Tensor& x, int64_t offset) {
  if (x.rank() < 2) call.fail("no matrix", "at least 2 axes");
  const Tensor last_column = arange(x.shape()[-2], {.dtype = i64}) + offset;
  return less_equal(arange(x.shape()[-1], {.dtype = i64}), expand_dims(last_column, 1));
}

}  // namespace

constinit const OpDef diagonal_op{.name = "diagonal",
                                  .kind = OpKind::Movement,
                                  .inputs = 1,
                                  .dtype = dtype_rule::any,
                                  .shape = diagonal_shape,
                                  .gradient = diagonal_gradient,
                                  .element = diagonal_element,
                                  .attrs = [] { return Attrs(DiagonalAttrs{}); },
                                  .traits = {.keeps_elements = true}};

constinit const OpDef diagonal_matrix_op{.name = "diagonal_matrix",
                                         .kind = OpKind::Movement,
                                         .inputs = 1,
                                         .dtype = dtype_rule::any,
                                         .shape = matrix_shape,
                                         .gradient = matrix_gradient,
                                         .element = matrix_element,
                                         .attrs = [] { return Attrs(DiagonalMatrixAttrs{}); }};

Dim diagonal_size(const Dim& rows, const Dim& columns, int64_t offset) {
  const DiagonalAttrs begin = begin_of(offset);
  return size_from(rows, columns, begin.row, begin.column);
}

Tensor diagonal_matrix(const Tensor& x, const Dim& rows, const Dim& columns, int64_t offset) {
  const DiagonalAttrs begin = begin_of(offset);
  return bind(diagonal_matrix_op, {x}, DiagonalMatrixAttrs{begin.row, begin.column, rows, columns});
}

Tensor diag(const Tensor& x, DiagonalOptions options) {
  const NamedCall call("diag", x);
  if (x.rank() == 0) call.fail("no vector or matrix", "at least 1 axis");
  const DiagonalAttrs begin = begin_of(options.offset);
  if (x.rank() > 1) return bind(diagonal_op, {x}, begin);
  const Dim size = x.shape()[0] + begin.row + begin.column;
  return diagonal_matrix(x, size, size, options.offset);
}

Tensor tril(const Tensor& x, DiagonalOptions options) {
  const NamedCall call("tril", x);
  return where(is_on_or_below(call, x, options.offset), x, cast(0, x.dtype()));
}

Tensor triu(const Tensor& x, DiagonalOptions options) {
  const NamedCall call("triu", x);
  const int64_t below = options.offset == std::numeric_limits<int64_t>::min() ? options.offset : options.offset - 1;
  return where(is_on_or_below(call, x, below), cast(0, x.dtype()), x);
}

}  // namespace anyshape
