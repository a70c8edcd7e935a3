// A function from a file: its traces, its variables, and what it is written again from.
#pragma once
#include "function/saved_trace.h"

#include <anyshape/saved_function.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace anyshape {

struct detail::SavedFunction {
  std::shared_ptr<FunctionCore> core;
  std::shared_ptr<const function_detail::SavedTraces> traces;
  std::vector<Variable> variables;
  std::vector<std::pair<std::string, Tensor>> constants;  // that the traces hold
  std::map<std::string, std::string> texts;               // of the file, but for the tensors
};

namespace saved {

// Host values among arguments as a key: what has an identity is none of the file's.
std::string words_of(std::span<const ArgumentPart> parts);

}  // namespace saved

}  // namespace anyshape
