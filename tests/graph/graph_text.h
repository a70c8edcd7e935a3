// Graphs as text, in tests.
#pragma once
#include "graph/text.h"
#include "ops/all_ops.h"

#include <anyshape/error.h>

#include <string>

namespace anyshape::test {

// A text read and printed again.
inline std::string again(const std::string& text) { return graph::print(*graph::parse(text, find_op)); }

// What the parser says to a text it refuses.
inline std::string refusal(const std::string& text) {
  try {
    graph::parse(text, find_op);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace anyshape::test
