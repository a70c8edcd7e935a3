// Stages of a compile as files; what cannot be written is a warning, and nothing else.
#include "base/dump.h"

#include "base/log.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace anyshape {
namespace {

Dump dump_to(const std::filesystem::path& folder, std::string_view name) {
  ::setenv("ANYSHAPE_DUMP", folder.c_str(), 1);
  Dump dump(name);
  ::unsetenv("ANYSHAPE_DUMP");
  return dump;
}

TEST(Dump, is_off_where_nobody_asks) {
  ::unsetenv("ANYSHAPE_DUMP");
  Dump dump("f");
  EXPECT_FALSE(dump.is_on());
  dump.write("trace", "text");
}

TEST(Dump, numbers_the_stages_in_a_folder_of_its_own) {
  const test::TemporaryFolder own;
  const std::filesystem::path& folder = own.path();
  Dump dump = dump_to(folder / "made", "my step/../x");
  ASSERT_TRUE(dump.is_on());
  dump.write("trace", "one");
  dump.write("deduplicate", "two");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "made")) names.push_back(entry.path().filename());
  ASSERT_EQ(names.size(), 1U);
  EXPECT_TRUE(names[0].ends_with("_my_step____x")) << names[0];
  std::ifstream file(folder / "made" / names[0] / "01_deduplicate.txt");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "two");
  EXPECT_TRUE(std::filesystem::exists(folder / "made" / names[0] / "00_trace.txt"));
}

TEST(Dump, warns_once_where_it_cannot_write) {
  const test::TemporaryFolder own;
  const std::filesystem::path folder = own.path() / "taken";
  std::ofstream(folder) << "a file where a folder should be";
  std::vector<std::string> lines;
  set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  Dump dump = dump_to(folder, "f");
  EXPECT_FALSE(dump.is_on());
  dump.write("trace", "text");
  set_log_sink({});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].starts_with("ANYSHAPE_DUMP: cannot write to ")) << lines[0];
}

}  // namespace
}  // namespace anyshape
