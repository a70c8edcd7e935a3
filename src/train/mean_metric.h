// A metric that is the weighted mean of values per row or position, as losses have them.
#pragma once
#include "train/loss_impl.h"
#include "train/metric_impl.h"

namespace anyshape::train {

Metric mean_of_values(LossImpl values);

}  // namespace anyshape::train
