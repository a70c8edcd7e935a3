// Configs: values that are printed, compared, written as JSON and read back.
#include "support/text_of.h"

#include <anyshape/config.h>
#include <anyshape/error.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace anyshape {
namespace {

Config example() {
  return Config::object("Dense", {{"units", 10},
                                  {"rate", 0.1},
                                  {"name", "a \"b\"\n\u00e4"},
                                  {"none", Config()},
                                  {"flag", true},
                                  {"sizes", std::vector<Config>{1, 2.0, Config()}},
                                  {"columns", Config::map({{"x", "f32"}})},
                                  {"activation", Config::object("relu")}});
}

TEST(Config, prints_as_a_call) {
  std::ostringstream out;
  out << example();
  EXPECT_EQ(out.str(),
            "Dense(units=10, rate=0.1, name=\"a \\\"b\\\"\\n\u00e4\", none=none, flag=true, sizes=[1, 2.0, none], columns={x: \"f32\"}, "
            "activation=relu())");
}

TEST(Config, json_keeps_everything) {
  const Config config = example();
  const std::string text = config.to_json();
  EXPECT_EQ(text, R"({"class_name": "Dense", "config": {"units": 10, "rate": 0.1, "name": "a \"b\"\n)"
                  "\u00e4"
                  R"(", "none": null, "flag": true, "sizes": [1, 2.0, null], "columns": {"x": "f32"}, )"
                  R"("activation": {"class_name": "relu", "config": {}}}})");
  EXPECT_EQ(Config::from_json(text), config);
}

TEST(Config, json_keeps_every_number) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.1, 1.0, -0.0, 1e300, 5e-324, Limits::max(), Limits::min(), 1.0 / 3, 1e16, 123456789012345680.0,
                             Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
    const Config read = Config::from_json(Config(value).to_json());
    EXPECT_EQ(read, Config(value)) << value;
    EXPECT_EQ(std::signbit(read.as_number()), std::signbit(value)) << value;
  }
  for (const int64_t value : {int64_t{0}, std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()})
    EXPECT_EQ(Config::from_json(Config(value).to_json()).as_integer(), value);
}

TEST(Config, json_has_letters_of_all_kinds) {
  EXPECT_EQ(Config::from_json(R"("\u00e4\ud83d\ude00\/\b")").as_text(), "\u00e4\U0001F600/\b");
}

TEST(Config, what_is_no_json_is_refused) {
  const std::string deep(100'000, '[');
  const std::pair<std::string, const char*> cases[] = {
      {"", "has no value at place 0"},
      {"{\"a\": 1", "has no '}' at place 7"},
      {"{\"a\" 1}", "has no ':' at place 5"},
      {"{\"a\": 1, \"a\": 2}", "has the key \"a\" twice"},
      {"[1, 2,]", "has no value at place 6"},
      {"[1 2]", "has no ']' at place 3"},
      {"01", "begins with 0"},
      {"+1", "has no value"},
      {"1.", "has no value"},
      {".5", "has no value"},
      {"1e", "has no value"},
      {"-", "has no value"},
      {"nul", "has no value"},
      {"tru", "has no value"},
      {"1 2", "has something behind"},
      {"9223372036854775808", "beyond 64 bits"},
      {"1e999", "beyond a double"},
      {"\"a", "without an end"},
      {"\"\\x\"", "unknown escape"},
      {"\"\\ud83d\"", "half a surrogate pair"},
      {"\"\\ude00\"", "half a surrogate pair"},
      {"\"\xff\"", "no UTF-8"},
      {"\"\x01\"", "control character"},
      {deep, "nested more than 200 deep"},
  };
  for (const auto& [text, wanted] : cases) {
    const std::string error = test::text_of<FormatError>([&] { Config::from_json(text); });
    EXPECT_NE(error.find(wanted), std::string::npos) << text.substr(0, 40) << "\n" << error;
    EXPECT_EQ(error.substr(0, 8), "config: ") << error;
  }
}

TEST(Config, lookups_name_what_is_wrong) {
  const Config config = example();
  EXPECT_EQ(config["units"].as_integer(), 10);
  EXPECT_EQ(config["units"].as_number(), 10.0);
  EXPECT_EQ(test::text_of<ArgumentError>([&] { config["unit"].as_integer(); }),
            "config: \"unit\" is no field of Dense; expected \"units\".");
  EXPECT_EQ(test::text_of<ArgumentError>([&] { config["name"].as_integer(); }),
            "config: the value is \"a \\\"b\\\"\\n\u00e4\"; expected a whole number.");
  EXPECT_EQ(test::text_of<ArgumentError>([&] { Config(1).find("a"); }), "config: the value is 1; expected an object or a map.");
  EXPECT_EQ(test::text_of<ArgumentError>([&] { Config::map({{"a", 1}, {"a", 2}}); }),
            "config: a map has two fields \"a\"; expected names that differ.");
  EXPECT_EQ(test::text_of<ArgumentError>([&] { Config::map({{"class_name", "a"}, {"config", Config::map({})}}).to_json(); }),
            "config: a map has the fields \"class_name\" and \"config\", by which JSON tells an object; expected other names.");
}

TEST(Config, differs_by_any_part) {
  Config other = example();
  EXPECT_EQ(other, example());
  other.set("units", 11);
  EXPECT_NE(other, example());
  EXPECT_NE(Config(1), Config(1.0));
  EXPECT_NE(Config::object("a"), Config::object("b"));
  EXPECT_NE(Config::object("a"), Config::map({}));
}

}  // namespace
}  // namespace anyshape
