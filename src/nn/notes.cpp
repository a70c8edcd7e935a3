// Notes on tensors.
#include "nn/notes.h"

#include "function/argument_notes.h"
#include "ops/contraction/contract.h"
#include "tensor/partition.h"
#include "tensor/tensor_impl.h"

#include <anyshape/ops.h>

#include <span>
#include <string>
#include <vector>

namespace anyshape::nn {

struct Notes {
  Tensor mask;
  Logits logits;
};

namespace {

using function_detail::NoteKinds;

Notes notes_of(const Tensor& tensor) {
  const std::shared_ptr<const Notes>& notes = tensor.impl()->notes;
  return notes == nullptr ? Notes{} : *notes;
}

// Notes are written on a handle of their own: the one given may be in other hands, where they would say something wrong.
Tensor with_notes(const Tensor& tensor, Notes notes) {
  const RaggedTensor* const ragged = as_ragged(tensor);  // a reshape to the same shape would be the handle given
  Tensor fresh = ragged == nullptr ? squeeze(expand_dims(tensor, 0), {0}) : make_ragged(ragged->values, ragged->partition);
  fresh.impl()->notes = std::make_shared<const Notes>(std::move(notes));
  return fresh;
}

// A mask has the leading sizes of what it masks: said once, so that no layer has an unknown broadcast.
Tensor fitted(const Tensor& mask, const Tensor& tensor) {
  if (mask.is_ragged() || tensor.is_ragged()) return mask;
  Shape sizes;
  for (int axis = 0; axis < mask.rank(); ++axis) sizes.push_back(tensor.shape()[axis]);
  return with_sizes(mask, sizes, std::vector<std::string>(static_cast<size_t>(mask.rank()), "the mask's size"));
}

NoteKinds kinds_of_notes(const Tensor& tensor) {
  const Notes notes = notes_of(tensor);
  NoteKinds kinds{.has_mask = notes.mask.defined()};
  if (notes.logits.value.defined()) kinds.logits_of = notes.logits.kind;
  return kinds;
}

std::vector<Tensor> notes_on(const Tensor& tensor) {
  const Notes notes = notes_of(tensor);
  std::vector<Tensor> all;
  for (const Tensor& note : {notes.mask, notes.logits.value}) {
    if (note.defined()) all.push_back(note);
  }
  return all;
}

Tensor with_notes_of(const Tensor& tensor, const NoteKinds& kinds, std::span<const Tensor> given) {
  Notes notes;
  if (kinds.has_mask) notes.mask = fitted(given.front(), tensor);
  if (kinds.logits_of) notes.logits = {given.back(), *kinds.logits_of};
  return with_notes(tensor, std::move(notes));
}

[[maybe_unused]] const bool registered = (function_detail::set_note_rules({kinds_of_notes, notes_on, with_notes_of}), true);

}  // namespace

Tensor mask_of(const Tensor& tensor) { return notes_of(tensor).mask; }

Logits logits_of(const Tensor& tensor) { return notes_of(tensor).logits; }

Tensor with_mask(const Tensor& tensor, const Tensor& mask) {
  Notes notes = notes_of(tensor);
  if (notes.mask.impl() == mask.impl()) return tensor;
  notes.mask = mask;
  return with_notes(tensor, std::move(notes));
}

Tensor with_logits(const Tensor& tensor, const Logits& logits) {
  Notes notes = notes_of(tensor);
  notes.logits = logits;
  return with_notes(tensor, std::move(notes));
}

}  // namespace anyshape::nn
