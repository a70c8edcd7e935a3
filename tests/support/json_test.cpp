// The JSON reader: what it reads, and what it refuses.
#include "support/json.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace anyshape::support {
namespace {

TEST(Json, reads_every_kind_of_value) {
  const Json json = parse_json(R"( {"null": null, "yes": true, "no": false, "integer": -12, "real": 1.5e-3, "text": "a\"\\\n",
                                   "list": [1, [], {}], "object": {"b": 1, "a": 2}} )");
  EXPECT_TRUE(json["null"].is_null());
  EXPECT_TRUE(json["yes"].boolean());
  EXPECT_FALSE(json["no"].boolean());
  EXPECT_EQ(json["integer"].integer(), -12);
  EXPECT_DOUBLE_EQ(json["integer"].number(), -12.0);
  EXPECT_DOUBLE_EQ(json["real"].number(), 1.5e-3);
  EXPECT_FALSE(json["real"].is_integer());
  EXPECT_EQ(json["text"].string(), "a\"\\\n");
  EXPECT_EQ(json["list"].items().size(), 3u);
  EXPECT_TRUE(json["list"].items()[2].members().empty());
}

TEST(Json, objects_keep_their_order) {
  const Json json = parse_json(R"({"b": 1, "a": 2})");
  EXPECT_EQ(json.members()[0].key, "b");
  EXPECT_EQ(json.members()[1].key, "a");
}

TEST(Json, integers_are_exact_and_larger_ones_are_real) {
  EXPECT_EQ(parse_json("9223372036854775807").integer(), INT64_MAX);
  EXPECT_EQ(parse_json("-9223372036854775808").integer(), INT64_MIN);
  EXPECT_FALSE(parse_json("9223372036854775808").is_integer());
}

TEST(Json, escapes_become_utf8) { EXPECT_EQ(parse_json(R"("\u0041\u00e9\u20ac\ud83d\ude00")").string(), "A\u00e9\u20ac\U0001F600"); }

TEST(Json, a_value_of_another_kind_is_an_error) {
  const Json json = parse_json(R"({"a": 1.0, "b": "x"})");
  EXPECT_THROW(json["a"].integer(), std::runtime_error);
  EXPECT_THROW(json["b"].number(), std::runtime_error);
  EXPECT_THROW(json["c"], std::runtime_error);
  EXPECT_EQ(json.find("c"), nullptr);
}

TEST(Json, refuses_what_is_not_json) {
  for (const char* text :
       {"",     " ",   "{",      "[1,]",    "[1 2]",       R"({"a":1,})", R"({a:1})",    R"({"a" 1})", R"({"a":1,"a":2})",
        "01",   "1.",  ".5",     "+1",      "-",           "1e",          "1e999",       "NaN",        "Infinity",
        "tru",  "nul", "\"",     "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"", "\"\n\"",     "1 1",
        "[1]]", "'a'", "// a\n1"}) {
    EXPECT_THROW(parse_json(text), std::runtime_error) << text;
  }
  EXPECT_THROW(parse_json(std::string(100'000, '[')), std::runtime_error);
}

TEST(Json, errors_say_where) {
  try {
    parse_json("{\"a\": 1,\n \"b\": ?}");
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "json: line 2, column 7: expected a value");
  }
}

}  // namespace
}  // namespace anyshape::support
