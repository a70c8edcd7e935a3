// Texts in errors: short ones as they are, long ones cut, lists with a count; near names of texts of any length.
#include "base/cut_text.h"
#include "base/near_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace anyshape {
namespace {

TEST(CutText, keeps_short_texts_and_cuts_long_ones) {
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes("abc"), "\"abc\"");
  EXPECT_EQ(in_quotes("<f4", '\''), "'<f4'");
  EXPECT_EQ(in_quotes(std::string(80, 'a')), "\"" + std::string(80, 'a') + "\"");
  EXPECT_EQ(in_quotes(std::string(81, 'a')), "\"" + std::string(77, 'a') + "...\" (81 bytes)");
  EXPECT_EQ(shortened("abc"), "abc");
  EXPECT_EQ(shortened(std::string(20'000'000, 'a')), std::string(77, 'a') + "... (20000000 bytes)");
}

TEST(CutText, cuts_between_letters) {
  std::string umlauts;
  for (int i = 0; i < 50; ++i) umlauts += "\xc3\xa4";
  EXPECT_EQ(in_quotes(umlauts), "\"" + umlauts.substr(0, 76) + "...\" (100 bytes)");
}

TEST(CutText, lists_the_first_ones_and_counts_the_others) {
  EXPECT_EQ(listed({}), "");
  const std::vector<std::string> few = {"a", "b"}, many(100'000, "x");
  EXPECT_EQ(listed(few), "a, b");
  EXPECT_EQ(listed(many).substr(0, 7), "x, x, x");
  EXPECT_TRUE(listed(many).ends_with("x, x and 99980 more"));
}

TEST(NearNames, are_found_for_texts_of_any_length_and_number) {
  const std::vector<std::string> known = {"adam", "adamw", "sgd"};
  EXPECT_EQ(unknown_name("optimizer", "adma", known), "\"adma\" is no optimizer; expected one of \"adam\", \"adamw\".");
  EXPECT_EQ(unknown_name("optimizer", "SGD", known), "\"SGD\" is no optimizer; expected \"sgd\".");
  EXPECT_EQ(unknown_name("optimizer", "Adam", known), "\"Adam\" is no optimizer; expected \"adam\".");
  EXPECT_EQ(unknown_name("optimizer", "xyzxyzxyz", known), "\"xyzxyzxyz\" is no optimizer; expected one of \"adam\", \"adamw\", \"sgd\".");
  const std::string endless(20'000'000, 'a');
  EXPECT_EQ(unknown_name("optimizer", endless, known),
            "\"" + std::string(77, 'a') + "...\" (20000000 bytes) is no optimizer; expected one of \"adam\", \"adamw\", \"sgd\".");
  std::vector<std::string> columns = {endless};
  for (int i = 0; i < 200'000; ++i) columns.push_back("column " + std::to_string(i));
  const std::string text = unknown_name("column", "colunm 1234", columns);
  EXPECT_TRUE(text.starts_with("\"colunm 1234\" is no column; expected one of \"column 1234\", ")) << text;
  EXPECT_TRUE(text.ends_with(" more.")) << text;
  EXPECT_LT(text.size(), 1000U);
}

TEST(NearNames, are_found_where_words_are_left_out) {
  const std::vector<std::string> known = {"sparse_categorical_crossentropy", "binary_crossentropy", "poisson"};
  EXPECT_EQ(unknown_name("loss", "sparse_crossentropy", known),
            "\"sparse_crossentropy\" is no loss; expected one of \"sparse_categorical_crossentropy\", \"binary_crossentropy\".");
}

TEST(CutText, shows_control_characters_by_their_codes) { EXPECT_EQ(in_quotes(std::string_view("x\0y\n", 4)), "\"x\\x00y\\x0a\""); }

}  // namespace
}  // namespace anyshape
