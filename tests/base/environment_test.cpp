// Words for on and off.
#include "base/environment.h"

#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(Environment, on_and_off_have_four_words_each_in_any_case) {
  for (const char* text : {"off", "OFF", "Off", "0", "no", "NO", "false", "False"}) {
    EXPECT_TRUE(means_off(text)) << text;
    EXPECT_FALSE(means_on(text)) << text;
  }
  for (const char* text : {"on", "ON", "1", "yes", "Yes", "true", "TRUE"}) {
    EXPECT_TRUE(means_on(text)) << text;
    EXPECT_FALSE(means_off(text)) << text;
  }
  for (const char* text : {"", " ", "offf", "of", "00", "/tmp/off", "o"}) EXPECT_FALSE(means_on(text) || means_off(text)) << text;
}

}  // namespace
}  // namespace anyshape
