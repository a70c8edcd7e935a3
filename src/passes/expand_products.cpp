// A product whose sizes are known to leave nothing to a library of matrix products becomes arithmetic like any other, which fuses with what is
// around it: an outer product is a multiplication, a product with a vector a sum along rows or columns, and a batch of tiny matrices one
// kernel instead of a call for each. Terms are added up in another order than the library's, in the same dtype.
#include "base/switches.h"
#include "ops/all_ops.h"
#include "ops/contraction/lower_matmul.h"
#include "ops/movement/transpose.h"
#include "ops/reduce/axes.h"
#include "passes/patterns.h"
#include "passes/rewrite.h"
#include "passes/run_passes.h"
#include "shape/prove.h"

#include <numeric>
#include <utility>

namespace anyshape::passes {
namespace {

const Switch pass_switch("expand_products", "products of vectors and of tiny matrices are loops that join what is around them");

using graph::Node;
using graph::Value;

// Measured against the library (docs/internals/experiments/products.md), where one call of it does the whole product.
constexpr int64_t shortest_row = 32;   // of an outer product: a loop each
constexpr int64_t shortest_sum = 64;   // along rows: lanes are combined at the end of each
constexpr int64_t longest_sum = 8192;  // along rows: the vector would leave the first cache
constexpr int64_t widest = 2048;       // of rows that are added up: parts of them would be far apart
// Of a tiny product: loops for one result matrix, those that begin with a row of b and those that combine lanes.
constexpr int64_t most_loops = 64, most_sums = 40, longest_tiny_sum = 128;

bool is_one(const Dim& size) { return proves_equal(size, 1).value_or(false); }
bool is_below(const Dim& size, int64_t bound) { return proves_less(size, bound).value_or(false); }
bool is_above(const Dim& size, int64_t bound) { return proves_less(bound, size).value_or(false); }

struct Product {
  Value *a, *b;
  bool transpose_a, transpose_b;
  Dim m, n, k;
  TensorSpec result;

  explicit Product(const Node& node)
      : a(node.inputs[0]),
        b(node.inputs[1]),
        transpose_a(node.attrs.as<MatmulAttrs>().transpose_a),
        transpose_b(node.attrs.as<MatmulAttrs>().transpose_b),
        m(node.outputs[0]->spec.shape[-2]),
        n(node.outputs[0]->spec.shape[-1]),
        k(a->spec.shape[transpose_a ? -2 : -1]),
        result(node.outputs[0]->spec) {}

  Shape batch() const { return batch_shape(result.shape); }
  bool has_one_entry() const { return is_one(batch().count()); }
  // With one matrix b, the rows of all a are one product; else there is a call for each entry of the batch.
  bool is_one_call() const { return has_one_entry() || (!transpose_a && is_one(batch_shape(b->spec.shape).count())); }
  bool is_dot() const { return is_one(m) && is_one(n); }
};

// Axes behind those of the batch.
Shape behind(Shape batch, std::initializer_list<Dim> axes) {
  for (const Dim& axis : axes) batch.push_back(axis);
  return batch;
}
Value* with_matrices(Rewriting& at, Value* value, std::initializer_list<Dim> axes) {
  return reshaped(at, value, behind(batch_shape(value->spec.shape), axes));
}

// The sum along an axis of what two operands multiply to.
Value* sum_of_products(Rewriting& at, Value* x, Value* y, const Shape& space, int64_t axis, bool keep_dims) {
  const Dtype dtype = x->spec.dtype;
  Value* const terms = at.add(multiply_op, {x, y}, {}, {dtype, space, {}});
  Shape shape;
  for (int each = 0; each < space.rank(); ++each) {
    if (each != axis) shape.push_back(space[each]);
    if (each == axis && keep_dims) shape.push_back(1);
  }
  return at.add(sum_op, {terms}, ReduceAttrs{.axes = {axis}, .keep_dims = keep_dims}, {dtype, shape, {}});
}

// A product with one column or one row: of a matrix with a vector.
struct VectorProduct {
  Value *matrix, *vector;
  bool along_rows;  // the sum goes along the matrix's rows as they stand
  Shape space;      // of the terms

  explicit VectorProduct(const Product& p) {
    const bool has_column = is_one(p.n);
    matrix = has_column ? p.a : p.b;
    vector = has_column ? p.b : p.a;
    along_rows = has_column ? !p.transpose_a : p.transpose_b;
    const Shape& shape = matrix->spec.shape;
    space = p.is_dot() ? behind(p.batch(), {1, p.k}) : behind(p.batch(), {shape[-2], shape[-1]});
    along_rows = along_rows || p.is_dot();
  }
};

enum class Form : uint8_t { Whole, Outer, Vector, Tiny };

struct Choice {
  Form form = Form::Whole;
  std::string_view refusal = "";  // why a product that looks like one of the others stays; empty: it does not
};

std::string_view why_not_outer(const Product& p) { return p.is_one_call() && is_below(p.n, shortest_row) ? "its rows are short" : ""; }

std::string_view why_not_vector(const Product& p) {
  const VectorProduct v(p);
  const Dim &length = v.space[-1], entries = batch_shape(v.matrix->spec.shape).count();
  if (!entries.same_as(p.batch().count())) return "one matrix may meet many vectors, as in a product of matrices";
  if (p.is_dot() || !p.is_one_call()) return "";
  if (!v.along_rows) return is_above(length, widest) ? "the rows to be added up are wide" : "";
  if (is_below(length, shortest_sum)) return "the rows to be summed are short";
  return is_above(length, longest_sum) ? "the rows to be summed are long" : "";
}

bool is_tiny(const Product& p) {
  if (!p.m.is_constant() || !p.n.is_constant() || !p.k.is_constant()) return false;
  if (p.transpose_b && !p.transpose_a) return is_below(p.m * p.n, most_sums + 1) && is_below(p.k, longest_tiny_sum + 1);
  const Dim &rows = p.transpose_b ? p.n : p.m, &row = p.transpose_b ? p.m : p.n;
  return is_below(rows * p.k, most_loops + 1) && is_below(row, shortest_row);
}

std::string_view why_not_tiny(const Product& p) {
  if (p.is_one_call() && !p.has_one_entry()) return "all matrices meet one, as in a product of many rows";
  return p.result.shape.rank() == max_rank ? "no axis is left for its terms" : "";
}

Choice choose(const Product& p) {
  const Choice forms[] = {
      is_one(p.k) ? Choice{Form::Outer, why_not_outer(p)} : Choice{},
      is_one(p.m) || is_one(p.n) ? Choice{Form::Vector, why_not_vector(p)} : Choice{},
      is_tiny(p) ? Choice{Form::Tiny, why_not_tiny(p)} : Choice{},
  };
  Choice refused;
  for (const Choice& each : forms) {
    if (each.form == Form::Whole) continue;
    const bool is_view = !p.a->strides.empty() || !p.b->strides.empty();
    if (each.refusal.empty() && !is_view) return each;
    if (refused.refusal.empty()) refused.refusal = is_view ? "an operand is a view" : each.refusal;
  }
  return refused;
}

Value* multiply(Rewriting& at, const Product& p) {
  at.because("of one term each: a multiplication");
  return plus_zero(at, at.add(multiply_op, {with_matrices(at, p.a, {p.m, 1}), with_matrices(at, p.b, {1, p.n})}, {}, p.result));
}

Value* sum_with_vector(Rewriting& at, const Product& p) {
  at.because("with a vector: a sum that joins what is around it");
  const VectorProduct v(p);
  Value* const matrix = p.is_dot() ? with_matrices(at, v.matrix, {1, p.k}) : v.matrix;
  const Dim& k = v.space[v.along_rows ? -1 : -2];  // as the matrix says it
  Value* const vector = v.along_rows ? with_matrices(at, v.vector, {1, k}) : with_matrices(at, v.vector, {k, 1});
  const bool stands = is_one(p.result.shape[v.along_rows ? -1 : -2]);  // the axis that is gone has the size 1 in the result
  Value* const sum = sum_of_products(at, matrix, vector, v.space, v.space.rank() - (v.along_rows ? 1 : 2), stands);
  return reshaped(at, sum, p.result.shape);
}

// Terms have an axis more than the result; where it stands follows from how both operands are stored.
Value* sum_tiny(Rewriting& at, const Product& p) {
  at.because("tiny matrices: one kernel for all of them");
  const int64_t rank = p.result.shape.rank();
  const auto sum = [&](std::initializer_list<Dim> a, std::initializer_list<Dim> b, std::initializer_list<Dim> terms, int64_t axis) {
    Value* const x = with_matrices(at, p.a, a);
    Value* const y = with_matrices(at, p.b, b);
    return sum_of_products(at, x, y, behind(p.batch(), terms), axis, false);
  };
  if (p.transpose_a && p.transpose_b) {  // no order of axes fits both: the product of b and a, transposed
    Value* const other = sum({1, p.k, p.m}, {p.n, p.k, 1}, {p.n, p.k, p.m}, rank - 1);
    TransposeAttrs attrs{std::vector<int64_t>(static_cast<size_t>(rank))};
    std::iota(attrs.permutation.begin(), attrs.permutation.end(), 0);
    std::swap(attrs.permutation[static_cast<size_t>(rank) - 1], attrs.permutation[static_cast<size_t>(rank) - 2]);
    return at.add(transpose_op, {other}, std::move(attrs), p.result);
  }
  if (p.transpose_a) return sum({p.k, p.m, 1}, {p.k, 1, p.n}, {p.k, p.m, p.n}, rank - 2);
  if (p.transpose_b) return sum({p.m, 1, p.k}, {1, p.n, p.k}, {p.m, p.n, p.k}, rank);
  return sum({p.m, p.k, 1}, {1, p.k, p.n}, {p.m, p.k, p.n}, rank - 1);
}

Value* expand(Rewriting& at, const Node& node) {
  if (node.op != &matmul_op) return nullptr;
  const Product p(node);
  const Choice choice = choose(p);
  at.refuse(choice.refusal);
  switch (choice.form) {
    case Form::Whole: return nullptr;
    case Form::Outer: return multiply(at, p);
    case Form::Vector: return sum_with_vector(at, p);
    case Form::Tiny: return sum_tiny(at, p);
  }
  return nullptr;
}

}  // namespace

void expand_products(graph::Graph& graph, Decisions& decisions) {
  static constexpr RewriteRule rules[] = {{"", expand}};  // which says what it found
  rewrite("expand_products", graph, rules, decisions);
}

}  // namespace anyshape::passes
