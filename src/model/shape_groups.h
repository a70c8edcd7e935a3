// Rows of several shapes, taken apart into ordinary batches of one shape each.
#pragma once
#include <anyshape/dataset.h>

#include <cstdint>
#include <vector>

namespace anyshape::model {

bool has_rows_of_several_shapes(const Data& data);  // of by_shape()
bool are_images(const Data& data);                  // such rows [height, width, channels]

// All rows of one shape: dense ones beside their targets and weights, and which numbers they had.
struct ShapeGroup {
  Data x, y, sample_weight;
  std::vector<int64_t> rows;
};
// In the order of their first rows. All three have as many rows.
std::vector<ShapeGroup> shape_groups(const Data& x, const Data& y, const Data& sample_weight);

size_t shape_count(const Data& x, const Data& y, const Data& sample_weight);  // 1 where there is no such list of rows

}  // namespace anyshape::model
