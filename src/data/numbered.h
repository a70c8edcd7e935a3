// Elements with their numbers: where a stage changes their order it can be found again.
#pragma once
#include "data/dataset_impl.h"

namespace anyshape::data {

// Each element's sample weight is its number in the pass, an i64, whatever it was.
Dataset numbered(Source source);

}  // namespace anyshape::data
