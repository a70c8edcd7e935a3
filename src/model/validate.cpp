// Building and checking before the first step.
#include "model/validate.h"

#include "model/batches.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape::model {
namespace {

constexpr std::string_view cure = "Fill it with FillMissing as the first layer, or drop the rows.";

bool has_missing(const Tensor& tensor) { return is_floating(tensor.dtype()) && any(is_nan(tensor.values())).item<bool>(); }

// The first column with a NaN and how many it has.
std::string missing_text(const Tensor& tensor) {
  const Tensor values = tensor.values();
  if (values.rank() < 2) return fmt::format("{} of its values are NaN", count_nonzero(is_nan(values)).item<int64_t>());
  std::vector<int64_t> axes;
  for (int axis = 0; axis < values.rank() - 1; ++axis) axes.push_back(axis);
  const std::vector<int64_t> counts = cast(sum(cast(is_nan(values), Dtype::i64), {.axes = axes}), Dtype::i64).to_vector<int64_t>();
  for (size_t column = 0; column < counts.size(); ++column) {
    if (counts[column] > 0) return fmt::format("column {} has {} NaN", column, counts[column]);
  }
  return "some values are NaN";
}

// A weight per row: that of its class. One-hot targets say it by their greatest column.
Tensor weights_of_classes(const Tensor& target, const std::map<int64_t, double>& class_weight) {
  const bool is_one_hot = target.rank() == 2 && target.shape()[1].value() > 1;
  const Tensor labels = is_one_hot ? argmax(target, {.axis = -1}) : reshape(target, {target.shape()[0]});
  Tensor weights = ones({labels.shape()[0]});
  for (const auto& [label, weight] : class_weight) weights = where(cast(labels, Dtype::i64) == label, static_cast<float>(weight), weights);
  return weights;
}

}  // namespace

void require_present(const Model& model, const char* what, const Data& x) {
  if (model.accepts_missing()) return;
  for (const Data::Field& field : x.fields()) {
    if (!has_missing(field.tensor)) continue;
    throw DataError(fmt::format("{}: the inputs{} hold missing values: {}; expected numbers. {}", what,
                                field.name.empty() ? "" : fmt::format(" \"{}\"", field.name), missing_text(field.tensor), cure));
  }
}

void prepare_model(const Model& model, Model::State& state, Shapes shapes, const Data& x) {
  if (!model.is_built()) {
    std::vector<Tensor> one;  // a call builds whatever the layers are; one row is enough
    for (const Data::Field& field : x.fields()) {
      const int64_t rows = row_count(field.tensor);
      one.push_back(rows_between(field.tensor, 0, std::min<int64_t>(rows, 1)));
    }
    call_network(model, one, false);
  }
  if (state.shapes != shapes) {
    state.shapes = shapes;
    state.train_step.reset();
    state.evaluate_step.reset();
    state.predict_step.reset();
  }
  if (!state.predict_step) state.predict_step.emplace(make_predict_step(shapes));
  if (!state.compiled) return;
  state.compiled->optimizer.build(model.trainable_variables());
  if (!state.train_step) state.train_step.emplace(make_train_step(*state.compiled, shapes, model));
  if (!state.evaluate_step) state.evaluate_step.emplace(make_evaluate_step(*state.compiled, shapes));
}

void prepare_batch(const AnyLayer& network, const CompileOptions& options, const std::map<int64_t, double>& class_weight, Batch& batch,
                   int64_t first_row) {
  if (!network.accepts_missing()) {
    for (const Tensor& input : batch.x) {
      if (has_missing(input)) {
        throw DataError(fmt::format("fit: the batch that begins with element {} holds missing values: {}; expected numbers. {}", first_row,
                                    missing_text(input), cure));
      }
    }
  }
  if (!class_weight.empty()) batch.sample_weight = weights_of_classes(batch.y.front(), class_weight);
  cast_targets(options, batch);
}

}  // namespace anyshape::model
