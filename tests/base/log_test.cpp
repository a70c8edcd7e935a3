// Warnings reach the sink of the program.
#include "base/log.h"
#include "base/no_fork.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace anyshape {
namespace {

TEST(Log, a_replaced_sink_gets_every_line_until_it_is_taken_away) {
  std::vector<std::string> lines;
  set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  log_warning("one");
  log_warning("two");
  set_log_sink({});
  testing::internal::CaptureStderr();
  log_warning("three");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "three\n");
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

TEST(Log, a_sink_that_throws_or_replaces_itself_does_no_harm) {
  set_log_sink([](std::string_view) {
    set_log_sink({});
    throw std::runtime_error("full");
  });
  log_warning("lost");
  testing::internal::CaptureStderr();
  log_warning("kept");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "kept\n");
}

TEST(Log, a_sink_is_called_outside_of_what_a_fork_waits_for) {
  std::vector<std::string> lines;
  set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  {
    const NoFork whole;
    log_warning("one");
    log_warning("two");
    EXPECT_TRUE(lines.empty());
  }
  set_log_sink({});
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace anyshape
