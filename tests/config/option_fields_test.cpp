// Options field by field: the names that the compiler knows, and values of every kind there and back.
#include "support/text_of.h"

#include <anyshape/option_fields.h>
#include <anyshape/shape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

enum class Colour { Red, DarkBlue };
enum class Gaps { First = 3, Second = 7 };
struct Inner {
  int32_t whole = 1;
  std::optional<double> share = {};
};
struct Everything {
  bool flag = false;
  char letter = 'a';
  uint8_t small = 0;
  float number = 0.5F;
  std::string text = {};
  Colour colour = Colour::Red;
  Gaps gaps = Gaps::First;
  std::vector<Inner> inner = {};
  std::map<std::string, Shape> shapes = {};
  std::function<void()> callable = {};
};

TEST(OptionFields, go_there_and_back) {
  Everything options{.flag = true, .letter = 'b', .small = 255, .text = "x", .colour = Colour::DarkBlue, .gaps = Gaps::Second};
  options.inner = {{.whole = 2, .share = 0.25}, {}};
  options.shapes = {{"a", Shape{dynamic, 3}}};
  const Config config = to_config(options);
  EXPECT_EQ(
      to_string(config),
      "{flag: true, letter: \"b\", small: 255, number: 0.5, text: \"x\", colour: \"dark_blue\", gaps: 7, inner: [{whole: 2, share: 0.25}, "
      "{whole: 1, share: none}], shapes: {a: [none, 3]}, callable: none}");
  EXPECT_EQ(to_config(detail::from_config<Everything>(config, "options")), config);
}

TEST(OptionFields, have_names_in_local_structs_too) {
  struct Local {
    int one = 1;
    double second_2 = 2;
  };
  EXPECT_EQ(to_string(to_config(Local())), "{one: 1, second_2: 2.0}");
}

TEST(OptionFields, refuse_what_does_not_fit) {
  const auto text = [](const char* field, Config value) {
    return test::text_of<ArgumentError>([&] { detail::from_config<Everything>(Config::map({{field, std::move(value)}}), "options"); });
  };
  EXPECT_EQ(text("small", 256), "options: small is 256; expected a whole number from 0 to 255.");
  EXPECT_EQ(text("letter", "ab"), "options: letter is \"ab\"; expected one letter.");
  EXPECT_EQ(text("colour", 1), "options: colour is 1; expected one of \"red\", \"dark_blue\".");
  EXPECT_EQ(text("colour", "dark_blu"), "options: colour: \"dark_blu\" is no choice; expected \"dark_blue\".");
  EXPECT_EQ(text("inner", std::vector<Config>{Config::map({{"share", "all"}})}), "options: inner[0]: share is \"all\"; expected a number.");
  EXPECT_EQ(text("shapes", Config::map({{"a", std::vector<Config>{-1}}})).substr(0, 28), "options: shapes.a is -1; exp");
  EXPECT_EQ(text("flags", true), "options: \"flags\" is no field; expected \"flag\".");
}

}  // namespace
}  // namespace anyshape
