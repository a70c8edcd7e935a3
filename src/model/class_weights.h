// Weights of classes as weights of rows.
#pragma once
#include <anyshape/tensor.h>

#include <map>
#include <vector>

namespace anyshape::model {

// f32[rows]: the weight of each row's class, 1 for a class that is not listed. Targets are class numbers [rows] or [rows, 1], or one-hot
// rows; ArgumentError for several targets, ShapeError for another rank.
Tensor weights_of_classes(const std::vector<Tensor>& targets, const std::map<int64_t, double>& class_weight);

}  // namespace anyshape::model
