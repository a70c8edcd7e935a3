// Notes on tensors.
#include "nn/annotations.h"

#include "tensor/partition.h"
#include "tensor/tensor_impl.h"

#include <anyshape/ops.h>

namespace anyshape::nn {
namespace {

// All notes are written here, so that each is one of these.
struct Notes : Annotations {
  Probability kind = Probability::Sigmoid;
};

Notes notes_of(const Tensor& tensor) {
  const std::shared_ptr<const Annotations>& notes = tensor.impl()->annotations;
  return notes == nullptr ? Notes{} : static_cast<const Notes&>(*notes);
}

// Notes are written on a handle of their own: the one given may be in other hands, where they would say something wrong.
Tensor noted(const Tensor& tensor, Notes notes) {
  const RaggedTensor* const ragged = as_ragged(tensor);  // a reshape to the same shape would be the handle given
  Tensor fresh = ragged == nullptr ? squeeze(expand_dims(tensor, 0), {0}) : make_ragged(ragged->values, ragged->partition);
  fresh.impl()->annotations = std::make_shared<const Notes>(std::move(notes));
  return fresh;
}

}  // namespace

Tensor mask_of(const Tensor& tensor) { return notes_of(tensor).mask; }

Logits logits_of(const Tensor& tensor) {
  const Notes notes = notes_of(tensor);
  return {notes.logits, notes.kind};
}

Tensor with_mask(const Tensor& tensor, const Tensor& mask) {
  Notes notes = notes_of(tensor);
  if (notes.mask.impl() == mask.impl()) return tensor;
  notes.mask = mask;
  return noted(tensor, std::move(notes));
}

Tensor with_logits(const Tensor& tensor, const Logits& logits) {
  Notes notes = notes_of(tensor);
  notes.logits = logits.value;
  notes.kind = logits.kind;
  return noted(tensor, std::move(notes));
}

}  // namespace anyshape::nn
