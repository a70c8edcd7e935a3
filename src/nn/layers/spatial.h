// What layers along spatial axes have in common: their class by the number of axes, and the input that they take.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/spatial.h>

#include <string>

namespace anyshape::nn {

std::string spatial_type(const char* family, int axes, const char* behind = "");  // "Conv2D"

// ShapeError, naming the class and the layer, for rows of unequal length and for another rank than [batch, `axes` spatial axes, channels].
void require_spatial(const Layer& layer, const Tensor& x, int axes);

// ArgumentError where both strides and dilation are more than 1.
void require_one_of(const std::string& type, const std::vector<int64_t>& strides, const std::vector<int64_t>& dilation);
// ArgumentError for "causal" along more than one axis.
void require_padding(const std::string& type, const Padding& padding, int axes);

// [k..., then these].
Shape kernel_shape(const std::vector<int64_t>& kernel_size, const Dim& before_last, const Dim& last);

}  // namespace anyshape::nn
