// Switches: one list of names, which holds every name that the sources ask for; scopes switch off on their own thread.
#include "base/switches.h"

#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <thread>

namespace anyshape {
namespace {

std::set<std::string> listed() {
  std::set<std::string> names;
  for (const Switch& each : all_switches()) names.emplace(each.name);
  return names;
}

TEST(Switches, have_a_name_each) { EXPECT_EQ(listed().size(), all_switches().size()); }

TEST(Switches, every_name_that_the_sources_ask_for_is_in_the_list) {
  const std::set<std::string> names = listed();
  const std::regex asked(R"re(is_switched_off\("(\w+)"\))re");
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(ANYSHAPE_SOURCES)) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    const std::string text(std::istreambuf_iterator<char>(file), {});
    for (std::sregex_iterator match(text.begin(), text.end(), asked), end; match != end; ++match, ++found) {
      EXPECT_TRUE(names.contains((*match)[1])) << entry.path() << " asks for " << (*match)[1] << ": add it to base/switches.cpp";
    }
  }
  EXPECT_GT(found, 0U);
}

TEST(Switches, a_scope_ends_and_stays_on_its_thread) {
  {
    const ScopedWithout without("merge");
    EXPECT_TRUE(is_switched_off("merge"));
    EXPECT_FALSE(is_switched_off("inline"));
    bool elsewhere = true;
    std::thread([&] { elsewhere = is_switched_off("merge"); }).join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(is_switched_off("merge"));
}

// The environment is read once in a process, so another one is asked.
TEST(SwitchesDeathTest, an_unknown_name_is_a_warning_that_lists_those_there_are) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("ANYSHAPE_WITHOUT", "merge,mege", 1);
  EXPECT_EXIT(
      {
        const bool is_off = is_switched_off("merge");
        std::exit(is_off ? 0 : 1);
      },
      testing::ExitedWithCode(0), "\"mege\" is nothing that can be switched off; expected some of .*merge.*in_place");
  ::unsetenv("ANYSHAPE_WITHOUT");
}

}  // namespace
}  // namespace anyshape
