// Kinds of notes in words and in bytes.
#include "function/note_kinds.h"

#include <anyshape/structure.h>

namespace anyshape::function_detail {

std::string to_words(const NoteKinds& kinds) {
  if (!kinds.logits_of) return kinds.has_mask ? "mask" : "";
  const std::string logits = *kinds.logits_of == Probability::Sigmoid ? "logits of sigmoid" : "logits of softmax";
  return kinds.has_mask ? "mask and " + logits : logits;
}

void append_key(std::string& key, const NoteKinds& kinds) {
  detail::structure::append_key(key, kinds.has_mask);
  detail::structure::append_key(key, kinds.logits_of.has_value());
  if (kinds.logits_of) detail::structure::append_key(key, *kinds.logits_of);
}

}  // namespace anyshape::function_detail
