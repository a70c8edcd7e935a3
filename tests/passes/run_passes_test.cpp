// The list of passes: what each took and did is reported, each can be switched off, and each stage can be looked at in a file.
#include "passes/run_passes.h"

#include "base/switches.h"
#include "graph/text.h"
#include "ops/all_ops.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace anyshape::passes {
namespace {

const char* const squares = R"(graph squares(%0 x: f32[n]) {
  %1 = exp(%0) : f32[n]
  %2 = exp(%0) : f32[n]
  %3 = multiply(%1, %2) : f32[n]
  return %3
}
)";

TEST(RunPasses, reports_what_every_pass_did) {
  const auto graph = graph::parse(squares, find_op);
  Decisions decisions;
  const PassReports reports = run_passes(*graph, decisions);
  ASSERT_EQ(reports.size(), all_passes().size());
  EXPECT_EQ(reports.front().nodes_before, 3U);
  EXPECT_EQ(reports.back().nodes_after, 2U);
  for (size_t i = 0; i < reports.size(); ++i) {
    EXPECT_EQ(reports[i].name, all_passes()[i].name);
    EXPECT_GE(reports[i].microseconds, 0);
  }
  const auto deduplicated = std::ranges::find(reports, "deduplicate", &PassReport::name);
  ASSERT_NE(deduplicated, reports.end());
  EXPECT_EQ(deduplicated->rewrites, 1U);
}

TEST(RunPasses, leaves_out_what_is_switched_off) {
  const auto graph = graph::parse(squares, find_op);
  const ScopedWithout without("deduplicate");
  Decisions decisions;
  const PassReports reports = run_passes(*graph, decisions);
  EXPECT_EQ(std::ranges::find(reports, "deduplicate", &PassReport::name), reports.end());
  EXPECT_EQ(graph::print(*graph), squares);
}

TEST(RunPasses, every_pass_is_in_the_list_of_switches) {
  const std::vector<const Switch*> switches = all_switches();
  for (const Pass& pass : all_passes()) {
    EXPECT_EQ(std::ranges::count(switches, pass.name, &Switch::name), 1) << pass.name;
  }
}

TEST(RunPasses, every_stage_can_be_a_file) {
  const test::TemporaryFolder folder;
  ::setenv("ANYSHAPE_DUMP", folder.path().c_str(), 1);
  Dump dump("squares");
  ::unsetenv("ANYSHAPE_DUMP");
  const auto graph = graph::parse(squares, find_op);
  Decisions decisions;
  run_passes(*graph, decisions, &dump);
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (entry.is_regular_file()) files.insert(entry.path().filename());
  }
  EXPECT_EQ(files.size(), all_passes().size() + 1);
  EXPECT_TRUE(files.begin()->starts_with("00_trace"));
  EXPECT_TRUE(files.rbegin()->ends_with("_remove_dead_code.txt"));
}

}  // namespace
}  // namespace anyshape::passes
