// What targets must be for their losses, told in the user's rows: numbers, whole class numbers in range, one label form, equal rows.
#pragma once
#include "model/compiled.h"
#include "model/output_facts.h"
#include "model/row_names.h"

#include <anyshape/model.h>

#include <vector>

namespace anyshape::model {

// Before targets are cast: NaN and infinity, unless the loss takes missing values, and labels that are no whole numbers. A loss or step of
// the user's own takes targets as they are.
void require_target_values(const RowNames& rows, const Compiled& compiled, const std::vector<Tensor>& y);

// Against what the model gives: class numbers and one-hot columns confused, labels out of range, ragged rows of other lengths.
void require_targets_fit(const RowNames& rows, const Compiled& compiled, const std::vector<OutputFacts>& outputs,
                         const std::vector<Tensor>& x, const std::vector<Tensor>& y);

// Whether require_targets_fit would look at anything: else no facts are needed.
bool needs_output_facts(const Compiled& compiled, const std::vector<Tensor>& y);

}  // namespace anyshape::model
