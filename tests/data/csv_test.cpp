// Comma-separated values: quotes, types, missing values, and errors with their line.
#include "function/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace anyshape {
namespace {

using test::text_of;

class Csv : public testing::Test {
 protected:
  ~Csv() override { std::filesystem::remove(file_); }

  const std::filesystem::path& write(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    return file_;
  }
  std::string place(int line) const { return "Dataset::from_csv: \"" + file_.string() + "\", line " + std::to_string(line); }

  std::filesystem::path file_ = std::filesystem::temp_directory_path() / ("anyshape_csv_test_" + std::to_string(getpid()) + ".csv");
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
  for (const size_t place : {0U, 2U, 3U, 4U}) EXPECT_TRUE(std::isnan(values[place])) << place;
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
            "Dataset::from_csv: \"/nowhere/at/all.csv\" cannot be read; expected a file.");
}

}  // namespace
}  // namespace anyshape
