// Switches: whoever makes one is in the list; scopes switch off on their own thread.
#include "base/switches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace anyshape {
namespace {

const Switch first("test_merge", "one"), second("test_inline", "another");

TEST(Switches, are_listed_by_name_where_one_is_made) {
  std::vector<std::string_view> names;
  for (const Switch* each : all_switches()) names.push_back(each->name);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(std::ranges::count(names, "test_merge"), 1);
  EXPECT_EQ(std::ranges::count(names, "test_inline"), 1);
}

TEST(Switches, a_scope_ends_and_stays_on_its_thread) {
  {
    const ScopedWithout without("test_merge");
    EXPECT_TRUE(first.is_off());
    EXPECT_TRUE(is_switched_off("test_merge"));
    EXPECT_FALSE(second.is_off());
    bool elsewhere = true;
    std::thread([&] { elsewhere = first.is_off(); }).join();
    EXPECT_FALSE(elsewhere);
    {
      const ScopedWithout both("test_inline");
      EXPECT_TRUE(first.is_off());
      EXPECT_TRUE(second.is_off());
    }
    EXPECT_FALSE(second.is_off());
  }
  EXPECT_FALSE(first.is_off());
}

// The environment is read once in a process, so another one is asked.
TEST(SwitchesDeathTest, an_unknown_name_is_a_warning_with_the_near_ones) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("ANYSHAPE_WITHOUT", "test_merge,test_mege", 1);
  EXPECT_EXIT(
      {
        const bool is_off = first.is_off();
        std::exit(is_off ? 0 : 1);
      },
      testing::ExitedWithCode(0), "\"test_mege\" is no switch; expected \"test_merge\". Several are separated by commas.");
  ::unsetenv("ANYSHAPE_WITHOUT");
}

}  // namespace
}  // namespace anyshape
