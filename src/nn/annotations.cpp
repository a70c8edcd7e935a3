// Notes on tensors.
#include "nn/annotations.h"

#include "function/noted_arguments.h"
#include "ops/contraction/contract.h"
#include "tensor/partition.h"
#include "tensor/tensor_impl.h"

#include <anyshape/ops.h>

#include <span>
#include <string>
#include <vector>

namespace anyshape::nn {

struct Annotations {
  Tensor mask;
  Logits logits;
};

namespace {

Annotations notes_of(const Tensor& tensor) {
  const std::shared_ptr<const Annotations>& notes = tensor.impl()->annotations;
  return notes == nullptr ? Annotations{} : *notes;
}

// Notes are written on a handle of their own: the one given may be in other hands, where they would say something wrong.
Tensor noted(const Tensor& tensor, Annotations notes) {
  const RaggedTensor* const ragged = as_ragged(tensor);  // a reshape to the same shape would be the handle given
  Tensor fresh = ragged == nullptr ? squeeze(expand_dims(tensor, 0), {0}) : make_ragged(ragged->values, ragged->partition);
  fresh.impl()->annotations = std::make_shared<const Annotations>(std::move(notes));
  return fresh;
}

// A mask has the leading sizes of what it masks: said once, so that no layer has an unknown broadcast.
Tensor fitted(const Tensor& mask, const Tensor& tensor) {
  if (mask.is_ragged() || tensor.is_ragged()) return mask;
  Shape sizes;
  for (int axis = 0; axis < mask.rank(); ++axis) sizes.push_back(tensor.shape()[axis]);
  return with_sizes(mask, sizes, std::vector<std::string>(static_cast<size_t>(mask.rank()), "the mask's size"));
}

std::string kind_of_notes(const Tensor& tensor) {
  const Annotations notes = notes_of(tensor);
  const bool is_sigmoid = notes.logits.kind == Probability::Sigmoid;
  const std::string logits = !notes.logits.value.defined() ? "" : is_sigmoid ? "logits of sigmoid" : "logits of softmax";
  if (!notes.mask.defined()) return logits;
  return logits.empty() ? "mask" : "mask and " + logits;
}

std::vector<Tensor> notes_on(const Tensor& tensor) {
  const Annotations notes = notes_of(tensor);
  std::vector<Tensor> all;
  for (const Tensor& note : {notes.mask, notes.logits.value}) {
    if (note.defined()) all.push_back(note);
  }
  return all;
}

Tensor with_notes(const Tensor& tensor, const std::string& kind, std::span<const Tensor> given) {
  Annotations notes;
  if (kind.starts_with("mask")) notes.mask = fitted(given.front(), tensor);
  if (kind.find("logits") != std::string::npos) notes.logits.value = given.back();
  if (kind.ends_with("softmax")) notes.logits.kind = Probability::Softmax;
  return noted(tensor, std::move(notes));
}

[[maybe_unused]] const bool registered = (function_detail::set_note_rules({kind_of_notes, notes_on, with_notes}), true);

}  // namespace

Tensor mask_of(const Tensor& tensor) { return notes_of(tensor).mask; }

Logits logits_of(const Tensor& tensor) { return notes_of(tensor).logits; }

Tensor with_mask(const Tensor& tensor, const Tensor& mask) {
  Annotations notes = notes_of(tensor);
  if (notes.mask.impl() == mask.impl()) return tensor;
  notes.mask = mask;
  return noted(tensor, std::move(notes));
}

Tensor with_logits(const Tensor& tensor, const Logits& logits) {
  Annotations notes = notes_of(tensor);
  notes.logits = logits;
  return noted(tensor, std::move(notes));
}

}  // namespace anyshape::nn
