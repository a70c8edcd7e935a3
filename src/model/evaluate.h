// Loss and metrics over batches, without training.
#pragma once
#include "model/batches.h"
#include "model/model_state.h"
#include "model/progress.h"

#include <functional>

namespace anyshape::model {

// The scores of one pass; none where `is_stopped` says so before its end. DataError where there is no batch.
std::optional<Scores> evaluate_batches(const char* what, const Model& model, const std::shared_ptr<Evaluations>& evaluations,
                                       Batches& batches, Progress* progress, const std::function<bool()>& is_stopped);

}  // namespace anyshape::model
