// Orthonormal columns by Householder reflections of a normal matrix: uniformly distributed once each column has the sign of its pivot.
#include "nn/orthogonal.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace anyshape::nn {
namespace {

// A column-major matrix: reflections work down columns.
struct Matrix {
  size_t rows, columns;
  std::vector<double> elements;
  double* column(size_t index) { return elements.data() + index * rows; }
};

// x - 2 v (v . x) below `first`.
void reflect(const double* v, double* x, size_t first, size_t rows) {
  double dot = 0;
  for (size_t row = first; row < rows; ++row) dot += v[row] * x[row];
  for (size_t row = first; row < rows; ++row) x[row] -= 2 * dot * v[row];
}

// Replaces a (rows >= columns) by Q of its QR decomposition, with the signs that make R's diagonal positive.
Matrix orthonormal_columns(Matrix a) {
  Matrix q{a.rows, a.columns, std::vector<double>(a.rows * a.columns)};
  std::vector<double> sign(a.columns, 1);
  for (size_t k = 0; k < a.columns; ++k) {
    double* v = a.column(k);
    double norm = 0;
    for (size_t row = k; row < a.rows; ++row) norm += v[row] * v[row];
    norm = std::sqrt(norm);
    sign[k] = v[k] > 0 ? -1 : 1;  // the pivot becomes -sign(v[k]) * norm
    v[k] -= sign[k] * norm;
    double length = 0;
    for (size_t row = k; row < a.rows; ++row) length += v[row] * v[row];
    length = std::sqrt(length);
    if (length == 0) continue;
    for (size_t row = k; row < a.rows; ++row) v[row] /= length;
    for (size_t later = k + 1; later < a.columns; ++later) reflect(v, a.column(later), k, a.rows);
  }
  for (size_t k = 0; k < a.columns; ++k) {
    q.column(k)[k] = sign[k];
    for (size_t back = k + 1; back-- > 0;) reflect(a.column(back), q.column(k), back, a.rows);
  }
  return q;
}

}  // namespace

Tensor orthogonal_matrix(const Shape& shape, Dtype dtype, double gain) {
  if (shape.rank() < 2) throw ShapeError(fmt::format("orthogonal: the weight is {}; expected at least two axes.", to_string(shape)));
  const int64_t columns = shape[-1].value();
  int64_t rows = 1;
  for (int axis = 0; axis < shape.rank() - 1; ++axis) rows *= shape[axis].value();
  const bool is_wide = rows < columns;
  const Tensor normal = random::normal({std::min(rows, columns), std::max(rows, columns)}, {.dtype = Dtype::f64});
  // Row-major [few, many] is column-major [many, few].
  Matrix q = orthonormal_columns(
      {static_cast<size_t>(std::max(rows, columns)), static_cast<size_t>(std::min(rows, columns)), normal.to_vector<double>()});
  for (double& element : q.elements) element *= gain;
  Tensor result = tensor(q.elements, {std::min(rows, columns), std::max(rows, columns)});
  if (!is_wide) result = transpose(result);
  return cast(reshape(result, shape), dtype);
}

}  // namespace anyshape::nn
