// Notes on tensors.
#include "nn/annotations.h"

#include "tensor/tensor_impl.h"

#include <anyshape/ops.h>

namespace anyshape::nn {
namespace {

Annotations notes_of(const Tensor& tensor) { return tensor.impl()->annotations == nullptr ? Annotations{} : *tensor.impl()->annotations; }

// Notes are written on a handle of their own: the one given may be in other hands, where they would say something wrong.
Tensor noted(const Tensor& tensor, Annotations notes) {
  Tensor fresh = reshape(tensor, tensor.shape());
  fresh.impl()->annotations = std::make_shared<const Annotations>(std::move(notes));
  return fresh;
}

}  // namespace

Tensor mask_of(const Tensor& tensor) { return notes_of(tensor).mask; }
Tensor logits_of(const Tensor& tensor) { return notes_of(tensor).logits; }

Tensor with_mask(const Tensor& tensor, const Tensor& mask) {
  if (mask_of(tensor).impl() == mask.impl()) return tensor;
  Annotations notes = notes_of(tensor);
  notes.mask = mask;
  return noted(tensor, std::move(notes));
}

Tensor with_logits(const Tensor& tensor, const Tensor& logits) {
  Annotations notes = notes_of(tensor);
  notes.logits = logits;
  return noted(tensor, std::move(notes));
}

}  // namespace anyshape::nn
