// NaN in the data: a missing value, which only a layer that says so may be given.
#pragma once
#include <anyshape/model.h>

#include <optional>
#include <string>
#include <vector>

namespace anyshape::model {

// DataError for NaN in a floating input, with its column and count, unless the first layer it reaches takes missing values. `first_element`
// is the number of a dataset's element that is the first row; then the text names the first element with a NaN.
void require_present(const AnyLayer& network, const char* what, const std::vector<Tensor>& x, std::optional<int64_t> first_element = {});

}  // namespace anyshape::model
