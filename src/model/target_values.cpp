// Each check is one or two reductions over the targets; only what fails them is looked at row by row.
#include "model/target_values.h"

#include "model/missing_values.h"
#include "model/model_state.h"
#include "nn/whole_numbers.h"
#include "train/loss_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::model {
namespace {

using train::TargetKind;

// The built-in loss of an output; null for none and for the user's own.
const LossImpl* built_in_loss(const Compiled& compiled, size_t output) {
  const Loss loss = compiled.loss_of(output);
  return compiled.step || !loss.defined() || loss.impl()->callable ? nullptr : loss.impl().get();
}

std::string name_of(const Compiled& compiled, size_t output) {
  return compiled.outputs.size() == 1 ? "the targets" : fmt::format("the targets \"{}\"", compiled.outputs[output]);
}

// The row of the first element that is true.
struct BadElement {
  int64_t element, row;
};
BadElement first_bad(const Tensor& target, const Tensor& is_bad) {
  const std::vector<bool> bad = reshape(is_bad, {-1}).to_vector<bool>();
  const int64_t element = std::ranges::find(bad, true) - bad.begin();
  if (target.is_ragged()) {
    const int64_t values = std::max<int64_t>(1, target.values().shape()[0].value());
    const int64_t each = static_cast<int64_t>(bad.size()) / values;
    return {element, row_ids(target).to_vector<int64_t>()[static_cast<size_t>(element / each)]};
  }
  return {element, element / std::max<int64_t>(1, static_cast<int64_t>(bad.size()) / target.shape()[0].value())};
}

void require_whole(const RowNames& rows, const LossImpl& loss, const Tensor& target) {
  const Tensor values = target.values();
  if (values.dtype() == Dtype::i32 || !(is_floating(values.dtype()) || values.dtype() == Dtype::i64)) return;
  const Tensor is_bad = values.dtype() == Dtype::i64 ? logical_or(values < -(int64_t{1} << 31), values >= int64_t{1} << 31)
                                                     : nn::as_indices(values) == nn::no_index;
  if (!any(is_bad).item<bool>()) return;
  const BadElement found = first_bad(target, is_bad);
  const double label = cast(reshape(values, {-1}), Dtype::f64).to_vector<double>()[static_cast<size_t>(found.element)];
  throw DataError(fmt::format("{}: the label in {} is {}; expected whole numbers, the numbers of classes for {}.{}", rows.what,
                              rows.of(found.row), label, loss.name,
                              loss.other_form.empty() ? "" : fmt::format(" Use {} for probabilities per class.", loss.other_form)));
}

void require_label_form(const RowNames& rows, const LossImpl& loss, int64_t classes, int rank, const Tensor& target) {
  if (classes < 2 || loss.other_form.empty() || target.rank() == 0) return;
  const bool has_columns = target.rank() == rank && !target.shape()[-1].is_ragged() && target.shape()[-1].value() != 1;
  if (loss.target == TargetKind::Classes && has_columns) {
    throw ShapeError(
        fmt::format("{}: the targets are {}, one-hot with a column per class; expected class numbers for {}. Use {} for one-hot targets, "
                    "or give argmax(y, {{.axis = -1}}).",
                    rows.what, to_string(target.shape()), loss.name, loss.other_form));
  }
  const bool has_numbers = target.rank() + 1 == rank || (target.rank() == rank && !has_columns && !target.shape()[-1].is_ragged());
  if (loss.target == TargetKind::Same && has_numbers) {
    throw ShapeError(
        fmt::format("{}: the targets are {}, one class number for {} classes; expected a column per class for {}. Use {} for class "
                    "numbers, or give one_hot(y, {}).",
                    rows.what, to_string(target.shape()), classes, loss.name, loss.other_form, classes));
  }
}

void require_range(const RowNames& rows, const LossImpl& loss, int64_t classes, const Tensor& target) {
  const Tensor values = target.values();
  Tensor is_bad = logical_or(values < 0, values >= classes);
  if (loss.ignore_class) is_bad = logical_and(is_bad, values != *loss.ignore_class);
  if (!any(is_bad).item<bool>()) return;
  const BadElement found = first_bad(target, is_bad);
  const auto label = cast(reshape(values, {-1}), Dtype::i64).to_vector<int64_t>()[static_cast<size_t>(found.element)];
  throw DataError(fmt::format("{}: the label in {} is {}; expected 0 <= label < {}, the number of classes that the model gives.", rows.what,
                              rows.of(found.row), label, classes));
}

void require_equal_lengths(const RowNames& rows, const Tensor& x, const Tensor& y) {
  if (!x.is_ragged() || !y.is_ragged()) return;
  const std::vector<int64_t> of_x = row_lengths(x).to_vector<int64_t>(), of_y = row_lengths(y).to_vector<int64_t>();
  const auto [own, other] = std::ranges::mismatch(of_x, of_y);
  if (own == of_x.end() || other == of_y.end()) return;
  throw DataError(
      fmt::format("{}: rows of x and y differ in length: {} has {} element{} in x and {} in y; expected as many, one target for "
                  "each position.",
                  rows.what, rows.of(own - of_x.begin()), *own, *own == 1 ? "" : "s", *other));
}

}  // namespace

std::string RowNames::of(int64_t row) const {
  return fmt::format("{} {}", is_dataset ? "element" : "row", numbers != nullptr ? (*numbers)[static_cast<size_t>(row)] : first + row);
}

void require_target_values(const RowNames& rows, const Compiled& compiled, const std::vector<Tensor>& y) {
  for (size_t output = 0; output < y.size(); ++output) {
    const LossImpl* const loss = built_in_loss(compiled, output);
    if (loss == nullptr) continue;
    const bool is_label = loss->target == TargetKind::Classes;
    require_numbers({.rows = rows,
                     .name = name_of(compiled, output),
                     .takes_missing = loss->ignore_missing,
                     .advice = is_label ? "Drop the rows, or give them a class number and say .ignore_class in the loss."
                                        : "Say .ignore_missing = true in the loss, or drop the rows."},
                    y[output]);
    if (is_label) require_whole(rows, *loss, y[output]);
  }
}

bool needs_output_facts(const Compiled& compiled, const std::vector<Tensor>& y) {
  for (size_t output = 0; output < y.size(); ++output) {
    const LossImpl* const loss = built_in_loss(compiled, output);
    if (loss != nullptr && (y[output].is_ragged() || !loss->other_form.empty())) return true;
  }
  return false;
}

void require_targets_fit(const RowNames& rows, const Compiled& compiled, const std::vector<OutputFacts>& outputs,
                         const std::vector<Tensor>& x, const std::vector<Tensor>& y) {
  for (size_t output = 0; output < std::min(y.size(), compiled.positions.size()); ++output) {
    const LossImpl* const loss = built_in_loss(compiled, output);
    if (compiled.positions[output] >= outputs.size()) return;
    const OutputFacts& facts = outputs[compiled.positions[output]];
    if (loss == nullptr || facts.rank == 0) continue;
    if (facts.rows_of && *facts.rows_of < x.size()) require_equal_lengths(rows, x[*facts.rows_of], y[output]);
    const int axis = loss->axis < 0 ? facts.rank + loss->axis : loss->axis;
    if (axis < 0 || axis >= facts.rank || !facts.sizes[static_cast<size_t>(axis)]) continue;
    const int64_t classes = *facts.sizes[static_cast<size_t>(axis)];
    if (axis + 1 == facts.rank) require_label_form(rows, *loss, classes, facts.rank, y[output]);
    if (loss->target == TargetKind::Classes && !facts.is_masked) require_range(rows, *loss, classes, y[output]);
  }
}

}  // namespace anyshape::model
