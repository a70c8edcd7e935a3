// What layers note on a tensor for the layers and losses after them: which steps are real, and the logits a probability came from.
#pragma once
#include <anyshape/tensor.h>

namespace anyshape::nn {

Tensor mask_of(const Tensor& tensor);    // b8, over the tensor's leading axes; undefined: none
Tensor logits_of(const Tensor& tensor);  // what sigmoid or softmax was taken of; undefined: none

// The same value under a handle with this note; an undefined one takes the note away.
Tensor with_mask(const Tensor& tensor, const Tensor& mask);
Tensor with_logits(const Tensor& tensor, const Tensor& logits);

}  // namespace anyshape::nn
