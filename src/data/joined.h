// Rows put together: one copy into one tensor, whatever their number.
#pragma once
#include <anyshape/tensor.h>

#include <optional>
#include <vector>

namespace anyshape::data {

// Whether sizes are equal from an axis on; of tensors of one rank.
bool are_equal_from(const Tensor& a, const Tensor& b, int axis);
bool are_equal(const std::vector<Tensor>& rows);  // defined, and of one shape

// Rows of one dtype and one shape along a new first axis.
Tensor stacked(const std::vector<Tensor>& rows);
// Rows [length, ...] of one dtype that differ in their first axis only.
Tensor ragged_of(const std::vector<Tensor>& rows);

// Batches one after the other; none where they are not dense, of one dtype and with rows of one shape.
std::optional<Tensor> appended(const std::vector<Tensor>& batches);

bool are_calls_followed();  // by a tape or a trace: then nothing is copied behind their back

// One entry along the first axis, without that axis, or a row of a ragged tensor: a view.
Tensor row_of(const Tensor& tensor, int64_t index);

}  // namespace anyshape::data
