// The tester of passes: text in, pass, text out.
#pragma once
#include "base/decision.h"
#include "graph/text.h"
#include "ops/all_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace anyshape::test {

inline void check_pass(void (*pass)(graph::Graph&, Decisions&), const std::string& before, const std::string& after) {
  Decisions decisions;
  const auto graph = graph::parse(before, find_op);
  pass(*graph, decisions);
  EXPECT_EQ(graph::print(*graph), after);
  EXPECT_NO_THROW(graph::verify(*graph));
  const auto rewrites = [&] { return std::ranges::count_if(decisions, [](const Decision& decision) { return decision.yes; }); };
  const auto first = rewrites();
  EXPECT_EQ(first > 0, before != after) << "a pass says what it rewrites";
  pass(*graph, decisions);
  EXPECT_EQ(graph::print(*graph), after) << "a second time there is nothing left to do";
  EXPECT_EQ(rewrites(), first);
}

}  // namespace anyshape::test
