// Runs a kernel written as text in the interpreter, for tests: buffers are vectors, dims a list.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "loop/interpret.h"
#include "loop/text.h"

namespace anyshape::loop {

inline int32_t run_text(const std::string& text, std::vector<void*> buffers, std::vector<int64_t> dims = {},
                        ExternLookup externs = nullptr) {
  return interpret(parse(text), nullptr, buffers, dims, externs);
}

}  // namespace anyshape::loop
