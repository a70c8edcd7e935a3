// A metric that is the weighted mean of values per row or position, as losses have them.
#pragma once
#include "train/loss_impl.h"

#include <anyshape/metric.h>

namespace anyshape::train {

Metric mean_of_values(LossImpl values);
template <class... Options>
Metric mean_of_values(LossImpl values, const std::string& name, const Options&... options) {
  return with_config(mean_of_values(std::move(values)), name, options...);
}

}  // namespace anyshape::train
