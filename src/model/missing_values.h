// NaN and infinity in the data. NaN is a missing value, which only a layer or a loss that says so may be given; infinity is an error.
#pragma once
#include "model/row_names.h"

#include <anyshape/model.h>

#include <string>
#include <vector>

namespace anyshape::model {

// DataError for NaN or infinity in a floating input, with its column and count; NaN is fine where the first layer it reaches takes missing
// values. Of a dataset, and of rows that have numbers of their own, the text names the first with one.
void require_present(const AnyLayer& network, const RowNames& rows, const std::vector<Tensor>& x);

// Likewise for targets and weights, always with the first row (of tensors) or element (of a dataset). `name` is what they are: "the targets".
struct NumbersRule {
  RowNames rows;
  std::string name;
  bool takes_missing = false;
  std::string advice = {};  // about missing values
};
void require_numbers(const NumbersRule& rule, const Tensor& tensor);

}  // namespace anyshape::model
