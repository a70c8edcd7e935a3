// The tester of passes: text in, pass, text out.
#pragma once
#include "graph/text.h"
#include "ops/all_ops.h"

#include <gtest/gtest.h>

#include <string>

namespace anyshape::test {

inline void check_pass(void (*pass)(graph::Graph&), const std::string& before, const std::string& after) {
  const auto graph = graph::parse(before, find_op);
  pass(*graph);
  EXPECT_EQ(graph::print(*graph), after);
  EXPECT_NO_THROW(graph::verify(*graph));
  pass(*graph);
  EXPECT_EQ(graph::print(*graph), after) << "a second time there is nothing left to do";
}

}  // namespace anyshape::test
