// Which notes a tensor carries: part of a trace's key, and told in the ledger.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace anyshape::function_detail {

enum class Probability : uint8_t { Sigmoid, Softmax };  // softmax along the last axis

struct NoteKinds {
  bool has_mask = false;
  std::optional<Probability> logits_of = {};  // which probabilities the logits became; none: no logits

  bool empty() const { return !has_mask && !logits_of; }
};
std::string to_words(const NoteKinds& kinds);               // "mask and logits of softmax"
void append_key(std::string& key, const NoteKinds& kinds);  // bytes that are equal for equal kinds only

}  // namespace anyshape::function_detail
