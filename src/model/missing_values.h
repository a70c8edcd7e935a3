// NaN and infinity in the data. NaN is a missing value, which only a layer or a loss that says so may be given; infinity is an error.
#pragma once
#include <anyshape/model.h>

#include <optional>
#include <string>
#include <vector>

namespace anyshape::model {

// DataError for NaN or infinity in a floating input, with its column and count; NaN is fine where the first layer it reaches takes missing
// values. `first_element` is the number of a dataset's element that is the first row; then the text names the first element with one.
void require_present(const AnyLayer& network, const char* what, const std::vector<Tensor>& x, std::optional<int64_t> first_element = {});

// Likewise for targets and weights, always with the first row (of tensors) or element (of a dataset). `name` is what they are: "the targets".
struct NumbersRule {
  const char* what;
  std::string name;
  bool takes_missing = false;
  std::string advice = {};  // about missing values
  int64_t first_row = 0;    // the number that the first row has for the user
  bool is_dataset = false;  // whose rows are elements
};
void require_numbers(const NumbersRule& rule, const Tensor& tensor);

}  // namespace anyshape::model
