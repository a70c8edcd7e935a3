// What layers note on a tensor for the layers and losses after them: which steps are real, and the logits a probability came from.
#pragma once
#include "function/note_kinds.h"

#include <anyshape/tensor.h>

namespace anyshape::nn {

using function_detail::Probability;
struct Logits {
  Tensor value;  // what the sigmoid or softmax was taken of; undefined: none is known
  Probability kind = Probability::Sigmoid;
};

Tensor mask_of(const Tensor& tensor);  // b8, over the tensor's leading axes; undefined: none
Logits logits_of(const Tensor& tensor);

// The same value under a handle with this note; an undefined one takes the note away.
Tensor with_mask(const Tensor& tensor, const Tensor& mask);
Tensor with_logits(const Tensor& tensor, const Logits& logits);

}  // namespace anyshape::nn
