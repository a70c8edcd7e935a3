// Batches of rows of several shapes: rows of one shape together, and which batch comes when by the order of the rows.
#pragma once
#include "model/batches.h"

namespace anyshape::model {

std::unique_ptr<Batches> grouped_batches(const Purpose& purpose, const Data& x, const Data& y, const Data& sample_weight,
                                         ArrayOptions options);

}  // namespace anyshape::model
