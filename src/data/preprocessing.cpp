// Padding, one-hot targets, splits.
#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/preprocessing.h>
#include <anyshape/ragged.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace anyshape {

namespace {

// Rows [length, ...] of one dtype that differ in their length only.
void require_rows(const std::vector<Tensor>& rows) {
  if (rows.empty()) throw DataError("pad_sequences: no rows are given; expected at least one.");
  const Tensor& first = rows.front();
  const Shape first_shape = first.defined() && first.rank() > 0 ? first.shape() : Shape();
  for (size_t i = 0; i < rows.size(); ++i) {
    const Tensor& row = rows[i];
    if (!row.defined() || row.rank() < 1) {
      throw ShapeError(fmt::format("pad_sequences: row {} is {}; expected rows with a first axis of time.", i, describe(row)));
    }
    const auto both = [&] {
      return fmt::format("pad_sequences: row {} is {}, row 0 {}; expected rows", i, describe(row), describe(first));
    };
    if (row.dtype() != first.dtype()) throw DtypeError(both() + " of one dtype.");
    Shape shape = row.shape();
    shape[0] = first_shape[0];
    if (!shape.same_as(first_shape)) throw ShapeError(both() + " that differ in their first axis only.");
  }
}

}  // namespace

Tensor pad_sequences(const std::vector<Tensor>& rows, PadSequencesOptions options) {
  require_rows(rows);
  int64_t length = 0;
  for (const Tensor& row : rows) length = std::max(length, row.shape()[0].value());
  if (options.max_length) length = *options.max_length;
  if (length < 0) throw ArgumentError(fmt::format("pad_sequences: max_length is {}; expected 0 or more.", length));
  // Rows and what fills them up, one behind the other: one copy, whatever their number.
  Shape shape = rows.front().shape();
  shape[0] = length;
  const Tensor filler = full(shape, cast(Tensor(options.value), rows.front().dtype()));
  std::vector<Tensor> parts;
  for (const Tensor& row : rows) {
    const int64_t own = row.shape()[0].value(), kept = std::min(own, length);
    const int64_t begin = options.truncating == Side::Pre ? own - kept : 0;
    const Tensor cut = kept == own ? row : slice(row, {{.begin = begin, .end = begin + kept}});
    const bool is_full = kept == length;
    if (!is_full && options.padding == Side::Pre) parts.push_back(slice(filler, {{.end = length - kept}}));
    parts.push_back(cut);
    if (!is_full && options.padding == Side::Post) parts.push_back(slice(filler, {{.end = length - kept}}));
  }
  Shape joined{static_cast<int64_t>(rows.size())};
  for (const Dim& size : shape) joined.push_back(size);
  return reshape(concat(parts, {.axis = 0}), joined);
}

Tensor pad_sequences(const Tensor& ragged, PadSequencesOptions options) {
  if (!ragged.defined() || !ragged.is_ragged()) {
    throw ShapeError(fmt::format("pad_sequences: the tensor is {}; expected a ragged one, or a std::vector of rows.", describe(ragged)));
  }
  if (is_traced(ragged)) {
    throw TraceError(
        fmt::format("pad_sequences: the rows of {} have no lengths inside a traced function; expected a call outside. Inside one use "
                    "to_padded(x, {{.value = ..., .length = ...}}).",
                    describe(ragged)));
  }
  return pad_sequences(to_rows(ragged), options);
}

Tensor to_categorical(const Tensor& labels, int64_t classes) {
  const Tensor whole = cast(labels, Dtype::i64);
  const Tensor column = whole.rank() > 1 && whole.shape()[-1].value() == 1 ? squeeze(whole, {-1}) : whole;
  const bool is_empty = column.shape().count().value() == 0;
  const int64_t greatest = is_empty ? -1 : max(column).item<int64_t>(), least = is_empty ? 0 : min(column).item<int64_t>();
  if (classes < 0) classes = std::min(greatest, std::numeric_limits<int64_t>::max() - 1) + 1;
  if (least < 0 || greatest >= classes) {
    throw DataError(fmt::format("to_categorical: a label is {}; expected 0 <= label < {}.", least < 0 ? least : greatest, classes));
  }
  return one_hot(column, classes);
}

Split train_test_split(const Tensor& x, const Tensor& y, TrainTestSplitOptions options) {
  if (x.rank() < 1 || y.rank() < 1) {
    throw ShapeError(fmt::format("train_test_split: x is {}, y {}; expected a first axis of rows.", describe(x), describe(y)));
  }
  const int64_t rows = x.shape()[0].value();
  if (y.shape()[0].value() != rows) {
    throw DataError(fmt::format("train_test_split: x has {} rows, y {}; expected as many.", rows, y.shape()[0].value()));
  }
  if (!(options.test_size > 0 && options.test_size < 1)) {
    throw ArgumentError(fmt::format("train_test_split: test_size is {}; expected 0 < test_size < 1.", options.test_size));
  }
  const auto test = static_cast<int64_t>(std::ceil(options.test_size * static_cast<double>(rows)));
  Tensor order = arange(rows);
  if (options.shuffle) {
    std::optional<random::SeedScope> scope;
    if (options.seed) scope.emplace(static_cast<uint64_t>(*options.seed));
    order = random::permutation(rows);
  }
  const Tensor train_rows = slice(order, {{.end = rows - test}}), test_rows = slice(order, {{.begin = rows - test}});
  return {take(x, train_rows), take(x, test_rows), take(y, train_rows), take(y, test_rows)};
}

}  // namespace anyshape
