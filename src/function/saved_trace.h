// Traces from a file: not compiled until a call needs them, and the only ones that their function has.
#pragma once
#include "function/signature.h"
#include "function/tracer.h"

#include <anyshape/ledger.h>

#include <string>
#include <vector>

namespace anyshape::function_detail {

struct SavedTrace {
  std::string key;  // of the host values among the arguments, in words
  Signature signature;
  Trace trace;                                  // its graph as it was traced; a copy is compiled
  std::vector<std::string> arguments, results;  // names of the tensors
  std::vector<ArgumentPart> values;             // what is no tensor among the arguments

  // The sizes fit: not those of ops, whose failing is an error of the call.
  bool fits(std::span<const Tensor> tensors) const;
  std::string to_string() const;  // "(x: f32[batch, 3]) with rate = 0.5"
};
using SavedTraces = std::vector<SavedTrace>;

// The traces that are there, one per line.
std::string list_of(const SavedTraces& traces);

}  // namespace anyshape::function_detail
