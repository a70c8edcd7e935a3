// Text as JSON: whatever the bytes are, the result is valid.
#include "base/json_text.h"

#include <gtest/gtest.h>

namespace anyshape {
namespace {

TEST(JsonText, escapes_quotes_backslashes_and_control_characters) { EXPECT_EQ(json_text("a\"b\\c\nd\te"), "\"a\\\"b\\\\c\\nd\\u0009e\""); }

TEST(JsonText, keeps_every_character_of_utf8) {
  for (const char* text :
       {"\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(json_text(text), "\"" + std::string(text) + "\"");
  }
}

// Lone bytes, overlong forms, surrogates, what is beyond the last character, and what ends too early.
TEST(JsonText, replaces_what_is_not_utf8) {
  for (const char* text : {"\x80", "\xFF", "\xC0\xAF", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
                           "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xE2(\xA1"}) {
    EXPECT_FALSE(is_utf8(text));
    const std::string json = json_text(std::string("a") + text + "z");
    EXPECT_TRUE(is_utf8(json)) << json;
    EXPECT_NE(json.find("\xEF\xBF\xBD"), std::string::npos);
    EXPECT_EQ(json.substr(0, 2), "\"a");
    EXPECT_EQ(json.substr(json.size() - 2), "z\"");
  }
}

}  // namespace
}  // namespace anyshape
