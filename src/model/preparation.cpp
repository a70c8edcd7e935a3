// Names, rules on values, dtypes and weights: done once for all rows of tensors, for each batch of a dataset.
#include "model/preparation.h"

#include "model/class_weights.h"
#include "model/fields.h"
#include "model/missing_values.h"
#include "model/model_state.h"
#include "model/target_values.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::model {

Preparation::Preparation(const Purpose& purpose)
    : purpose_(purpose), inputs_(input_names(purpose.network)), outputs_(purpose.network.layer()->output_names()) {
  if (purpose.compiled != nullptr && !outputs_.empty()) outputs_ = purpose.compiled->outputs;
}

std::vector<Tensor> Preparation::inputs(const Data& x) const {
  return model_inputs(purpose_.network, ordered_fields(purpose_.what, "input", x, inputs_));
}

Batch Preparation::prepared(const Data& x, const Data& y, const Data& sample_weight, const RowNames& rows) const {
  Batch batch{.x = inputs(x)};
  require_present(purpose_.network, rows, batch.x);
  if (purpose_.compiled == nullptr) return batch;
  if (!y.defined() && !purpose_.any_targets)
    throw DataError(fmt::format("{}: no targets are given; expected a tensor, rows or inputs().", purpose_.what));
  const std::vector<std::string> targets = purpose_.any_targets ? named_fields(purpose_.what, "target", y, outputs_) : outputs_;
  batch.y = ordered_fields(purpose_.what, "target", y, targets);
  require_target_values(rows, *purpose_.compiled, batch.y);
  for (const Data::Field& field : sample_weight.fields()) {
    require_numbers({.rows = rows,
                     .name = field.name.empty() ? "the sample weights" : fmt::format("the sample weights \"{}\"", field.name),
                     .advice = "Weigh what is not to count by 0."},
                    field.tensor);
  }
  if (sample_weight.defined()) batch.sample_weight = ordered_weights(purpose_.what, sample_weight, targets);
  if (!purpose_.class_weight.empty()) {
    if (!batch.sample_weight.empty()) {
      throw ArgumentError(fmt::format("{}: class_weight and sample_weight are both given; expected one of them.", purpose_.what));
    }
    batch.sample_weight = {weights_of_classes(batch.y, purpose_.class_weight)};
  }
  for (size_t output = 0; output < batch.y.size(); ++output)
    batch.y[output] = cast_target(purpose_.network, *purpose_.compiled, output, batch.y[output]);
  return batch;
}

}  // namespace anyshape::model
