// Comma-separated values: quotes, types, missing values, and errors with their line.
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace anyshape {
namespace {

using test::text_of;

class Csv : public testing::Test {
 protected:
  const std::filesystem::path& write(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    return file_;
  }
  std::string place(int line) const { return "Dataset::from_csv: \"" + file_.string() + "\", line " + std::to_string(line); }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "table.csv";
};

std::vector<float> floats_of(const Dataset& data) {
  std::vector<float> values;
  for (const Example& example : data) {
    for (const float each : example.x.single().to_vector<float>()) values.push_back(each);
  }
  return values;
}

TEST_F(Csv, gives_a_row_per_record_and_a_target) {
  const Dataset data = Dataset::from_csv(write("a,b,label\n1,2.5,0\n-3,4e2,1\n"), {.target = "label", .dtypes = {{"label", i32}}});
  std::vector<int> labels;
  for (int pass = 0; pass < 2; ++pass) {
    EXPECT_EQ(floats_of(data), (std::vector<float>{1, 2.5F, -3, 400}));
    for (const Example& example : data) labels.push_back(example.y.single().item<int>());
  }
  EXPECT_EQ(labels, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(data.batch(2).begin()->x.single().shape(), Shape({2, 2}));
  EXPECT_EQ(data.begin()->y.single().dtype(), i32);
}

TEST_F(Csv, reads_quotes_line_ends_and_separators_as_the_standard_says) {
  write("\xef\xbb\xbf\"na\"\"me\", \"text\"\r\n");  // a space before a quote
  EXPECT_EQ(text_of<FormatError>([&] { Dataset::from_csv(file_); }),
            place(1) + ": a quote stands inside a field; expected the whole field in quotes, and two for one.");
  write("\xef\xbb\xbf\"na\"\"me\",\"a,b\"\r\n\"1\",2\r\n\r\n3,\"4\"");
  EXPECT_EQ(floats_of(Dataset::from_csv(file_, {.columns = {"na\"me", "a,b"}})), (std::vector<float>{1, 2, 3, 4}));
  write("1;2\n3;4\n");
  EXPECT_EQ(floats_of(Dataset::from_csv(file_, {.columns = {"1"}, .separator = ';', .header = false})), (std::vector<float>{2, 4}));
  write("a,b\n\"x\ny\",1\n2,3\n");
  EXPECT_EQ(floats_of(Dataset::from_csv(file_, {.columns = {"b"}})), (std::vector<float>{1, 3}));
  EXPECT_EQ(text_of<FormatError>([&] { Dataset::from_csv(write("a\n\"1\n")).begin(); }),
            place(2) + ": a quote is not closed; expected one before the end of the file.");
  EXPECT_EQ(text_of<FormatError>([&] { Dataset::from_csv(write("a\n\"1\"2\n")).begin(); }),
            place(2) + ": text follows a closing quote; expected the separator or the end of the line.");
}

TEST_F(Csv, makes_missing_values_nan) {
  const std::vector<float> values = floats_of(Dataset::from_csv(write("a,b\n,1\nNA, \n?,2\n"), {.missing = {"", "NA", "?"}}));
  ASSERT_EQ(values.size(), 6U);
  for (const size_t index : {0U, 2U, 3U, 4U}) EXPECT_TRUE(std::isnan(values[index])) << index;
  EXPECT_EQ(values[1], 1);
  EXPECT_EQ(values[5], 2);
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(write("a\n1\n\nNA\n"), {.dtypes = {{"a", i64}}}).batch(2).begin(); }),
            place(4) + ", column \"a\": the value is missing; expected i64. Read the column as f32, where it is NaN.");
}

TEST_F(Csv, gives_a_field_per_column_where_dtypes_differ) {
  const Dataset data = Dataset::from_csv(write("age,colour\n3,red\n4,blue\n"), {.categories = {{"colour", {"blue", "red"}}}});
  const Dataset::Iterator first = data.begin();
  ASSERT_EQ(first->x.fields().size(), 2U);
  EXPECT_EQ(first->x.fields()[0].name, "age");
  EXPECT_EQ(first->x.fields()[1].tensor.item<int>(), 1);
  EXPECT_EQ(first->x.fields()[1].tensor.dtype(), i32);
  EXPECT_EQ(data.batch(2).begin()->x.fields()[1].tensor.to_vector<int32_t>(), (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(
      text_of<DataError>([&] { Dataset::from_csv(write("c\nred\nrde\n"), {.categories = {{"c", {"blue", "red"}}}}).batch(2).begin(); }),
      place(3) + ", column \"c\": \"rde\" is no category; expected \"red\".");
}

TEST_F(Csv, refuses_what_does_not_fit_with_its_line) {
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(write("a,b\n1,2\n3\n")).batch(2).begin(); }),
            place(3) + ": 1 field; expected 2, one per column.");
  EXPECT_EQ(
      text_of<DataError>([&] { Dataset::from_csv(write("a\n1x\n")).begin(); }),
      place(2) +
          ", column \"a\": \"1x\" is no number; expected f32. List the column's values in .categories, or leave it out with .columns.");
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(write("a\n1.5\n"), {.dtypes = {{"a", i32}}}).begin(); }),
            place(2) + ", column \"a\": \"1.5\" is no whole number; expected i32.");
  EXPECT_EQ(text_of<ArgumentError>([&] { Dataset::from_csv(write("age,size\n1,2\n"), {.target = "agee"}); }),
            "Dataset::from_csv: \"agee\" is no column; expected \"age\".");
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(write("")); }),
            "Dataset::from_csv: \"" + file_.string() + "\" is empty; expected a header.");
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv("/nowhere/at/all.csv"); }),
            "Dataset::from_csv: \"/nowhere/at/all.csv\" is no file that can be read; expected a file.");
}

TEST_F(Csv, refuses_a_name_of_two_columns_where_it_is_asked_for) {
  write("x,x,y\n1,2,3\n");
  const std::string wanted =
      "Dataset::from_csv: \"" + file_.string() + "\": columns 0 and 1 are both named \"x\"; expected one of that name.";
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(file_); }), wanted);
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(file_, {.target = "x", .columns = {"y"}}); }), wanted);
  EXPECT_EQ(floats_of(Dataset::from_csv(file_, {.columns = {"y"}})), std::vector<float>{3});
}

TEST_F(Csv, reads_many_columns_without_looking_at_all_for_each) {
  std::string names, values;
  for (int i = 0; i < 200'000; ++i) {
    names += (i == 0 ? "c" : ",c") + std::to_string(i);
    values += i == 0 ? "1" : ",2";
  }
  const Dataset data = Dataset::from_csv(write(names + "\n" + values + "\n"));
  EXPECT_EQ(data.begin()->x.single().shape(), Shape({200'000}));
}

TEST_F(Csv, reads_whole_numbers_exactly_and_in_their_range) {
  auto first = [&](const std::string& text, Dtype dtype) {
    return cast(Dataset::from_csv(write("a\n" + text + "\n"), {.dtypes = {{"a", dtype}}}).begin()->x.single(), i64)
        .to_vector<int64_t>()
        .at(0);
  };
  EXPECT_EQ(first("9223372036854775807", i64), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(first("-9223372036854775808", i64), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(first("9007199254740993", i64), 9007199254740993);
  EXPECT_EQ(first("+2147483647", i32), 2147483647);
  EXPECT_EQ(first("255", u8), 255);
  EXPECT_EQ(first("3.0", i32), 3);
  EXPECT_EQ(first("2e3", i32), 2000);
  auto refusal = [&](const std::string& text, Dtype dtype) { return text_of<DataError>([&] { first(text, dtype); }); };
  EXPECT_EQ(refusal("3000000000", i32),
            place(2) + ", column \"a\": \"3000000000\" is out of range; expected i32, -2147483648 to 2147483647.");
  EXPECT_EQ(refusal("300", u8), place(2) + ", column \"a\": \"300\" is out of range; expected u8, 0 to 255.");
  EXPECT_EQ(refusal("-1", u8), place(2) + ", column \"a\": \"-1\" is out of range; expected u8, 0 to 255.");
  for (const char* const text : {"9223372036854775808", "1e18", "9007199254740993.0"}) {
    EXPECT_EQ(refusal(text, i64),
              place(2) + ", column \"a\": \"" + text + "\" is out of range; expected i64, -9223372036854775808 to 9223372036854775807.");
  }
}

TEST_F(Csv, refuses_a_long_line_before_its_fields_are_kept) {
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(write("a,b\n1,2,3,\"\n")).begin(); }),  // the open quote is not reached
            place(2) + ": more than 2 fields; expected 2, one per column.");
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(write("a\n1\n" + std::string(1'000'000, ',') + "\n")).batch(2).begin(); }),
            place(3) + ": more than 1 field; expected 1, one per column.");
}

TEST_F(Csv, refuses_separators_that_mean_something_else_and_what_is_no_file) {
  for (const char separator : {'"', '\n', '\r', '\xe9'}) {
    EXPECT_EQ(text_of<ArgumentError>([&] { Dataset::from_csv(write("a\n1\n"), {.separator = separator}); }),
              "Dataset::from_csv: the separator is character " + std::to_string(static_cast<unsigned char>(separator)) +
                  "; expected an ASCII one that is no quote and no line end.");
  }
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(folder_.path()); }),
            "Dataset::from_csv: \"" + folder_.path().string() + "\" is a folder; expected a file.");
}

}  // namespace
}  // namespace anyshape
