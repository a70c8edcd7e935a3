// Preprocessing: the golden cases, sizes 0 and 1, and what is refused.
#include "support/golden_values.h"
#include "support/text_of.h"
#include "train/golden_names.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <limits>

namespace anyshape::test {
namespace {

using support::GoldenCase;
using support::Json;

std::vector<Tensor> rows_of(const GoldenCase& golden) {
  const std::vector<int64_t> splits = golden.inputs["x.splits"].values<int64_t>();
  const Tensor values = to_tensor(golden.inputs["x.values"]);
  std::vector<Tensor> rows;
  for (size_t r = 0; r + 1 < splits.size(); ++r) rows.push_back(slice(values, {{.begin = splits[r], .end = splits[r + 1]}}));
  return rows;
}

Side side_of(const Json& attrs, const char* name) {
  const Json* side = attrs.find(name);
  return side != nullptr && side->string() == "post" ? Side::Post : Side::Pre;
}

double number_or(const Json& attrs, const char* name, double otherwise) {
  const Json* number = attrs.find(name);
  return number == nullptr ? otherwise : number->number();
}

Tensor run(const GoldenCase& golden) {
  const Json& attrs = golden.attrs;
  if (golden.op == "to_categorical") {
    return to_categorical(to_tensor(golden.inputs["x"]), static_cast<int64_t>(number_or(attrs, "num_classes", -1)));
  }
  PadSequencesOptions options{
      .padding = side_of(attrs, "padding"), .truncating = side_of(attrs, "truncating"), .value = number_or(attrs, "value", 0)};
  if (attrs.find("maxlen") != nullptr) options.max_length = attrs["maxlen"].integer();
  return pad_sequences(rows_of(golden), options);
}

bool is_batching(const GoldenCase* golden) {  // golden_batch_test.cpp has them
  return golden->op == "padded_batch" || golden->op == "bucket_by_sequence_length";
}

std::vector<const GoldenCase*> cases() {
  std::vector<const GoldenCase*> found = cases_of_kind("preprocess");
  std::erase_if(found, is_batching);
  return found;
}

class GoldenPreprocessing : public testing::TestWithParam<const GoldenCase*> {};

TEST_P(GoldenPreprocessing, agrees) {
  const GoldenCase& golden = *GetParam();
  ASSERT_TRUE(golden.op == "pad_sequences" || golden.op == "to_categorical") << golden.op;
  EXPECT_EQ(support::difference(to_golden(run(golden)), golden.outputs["0"], golden.rtol, golden.atol), "");
}

INSTANTIATE_TEST_SUITE_P(Goldens, GoldenPreprocessing, testing::ValuesIn(cases()), name_of_case);

TEST(PadSequences, takes_rows_of_any_length_and_ragged_tensors) {
  const Tensor rows = ragged({{1, 2, 3}, {}, {4}});
  EXPECT_TRUE(all_equal(pad_sequences(rows), tensor({{1, 2, 3}, {0, 0, 0}, {0, 0, 4}})));
  EXPECT_TRUE(all_equal(pad_sequences(rows, {.padding = Side::Post, .value = -1}), tensor({{1, 2, 3}, {-1, -1, -1}, {4, -1, -1}})));
  EXPECT_TRUE(all_equal(pad_sequences(rows, {.max_length = 1}), tensor({{3}, {0}, {4}})));
  EXPECT_EQ(to_string(pad_sequences(rows, {.max_length = 0}).shape()), "[3, 0]");
  EXPECT_EQ(to_string(pad_sequences({zeros({0}), zeros({0})}).shape()), "[2, 0]");
}

TEST(PadSequences, refuses_what_is_no_row) {
  EXPECT_EQ(text_of<DataError>([] { pad_sequences(std::vector<Tensor>{}); }), "pad_sequences: no rows are given; expected at least one.");
  EXPECT_EQ(text_of<ShapeError>([] { pad_sequences(std::vector<Tensor>{Tensor(1)}); }),
            "pad_sequences: row 0 is i32[]; expected rows with a first axis of time.");
  EXPECT_EQ(text_of<ShapeError>([] { pad_sequences({ones({2, 3}), ones({2, 4})}); }),
            "pad_sequences: row 1 is f32[2, 4], row 0 f32[2, 3]; expected rows that differ in their first axis only.");
  EXPECT_EQ(text_of<DtypeError>([] { pad_sequences({ones({2}), ones({2}, {.dtype = Dtype::i32})}); }),
            "pad_sequences: row 1 is i32[2], row 0 f32[2]; expected rows of one dtype.");
  EXPECT_EQ(text_of<ShapeError>([] { pad_sequences(ones({2, 3})); }),
            "pad_sequences: the tensor is f32[2, 3]; expected a ragged one, or a std::vector of rows.");
  EXPECT_EQ(text_of<ArgumentError>([] { pad_sequences(std::vector<Tensor>{ones({2})}, {.max_length = -1}); }),
            "pad_sequences: max_length is -1; expected 0 or more.");
}

TEST(ToCategorical, takes_columns_and_nothing) {
  EXPECT_TRUE(all_equal(to_categorical(tensor({{1}, {0}})), tensor({{0.0F, 1.0F}, {1.0F, 0.0F}})));
  EXPECT_EQ(to_string(to_categorical(zeros({0}, {.dtype = Dtype::i32}), 3).shape()), "[0, 3]");
  EXPECT_EQ(to_string(to_categorical(tensor({{0, 1}, {2, 1}})).shape()), "[2, 2, 3]");
  EXPECT_EQ(text_of<DataError>([] { to_categorical(tensor({0, 5}), 3); }), "to_categorical: a label is 5; expected 0 <= label < 3.");
  EXPECT_EQ(text_of<DataError>([] { to_categorical(tensor({0, -1})); }), "to_categorical: a label is -1; expected 0 <= label < 1.");
  const Tensor huge = tensor<int64_t>({std::numeric_limits<int64_t>::max()});
  EXPECT_EQ(text_of<DataError>([&] { to_categorical(huge); }),
            "to_categorical: a label is 9223372036854775807; expected 0 <= label < 9223372036854775807.");
}

TEST(TrainTestSplit, keeps_rows_together) {
  const Tensor x = reshape(arange(20), {10, 2}), y = arange(10);
  const Split split = train_test_split(x, y, {.test_size = 0.25, .seed = 1});
  EXPECT_EQ(to_string(split.x_train.shape()), "[7, 2]");
  EXPECT_EQ(to_string(split.x_test.shape()), "[3, 2]");
  EXPECT_TRUE(all_equal(slice(split.x_train, {{}, {.begin = 1}}), expand_dims(2 * split.y_train + 1, -1)));
  EXPECT_TRUE(all_equal(sort(concat({split.y_train, split.y_test}, {.axis = 0})), y));
  EXPECT_TRUE(all_equal(split.y_test, train_test_split(x, y, {.test_size = 0.25, .seed = 1}).y_test)) << "the same seed";
  EXPECT_TRUE(all_equal(train_test_split(x, y, {.shuffle = false}).y_test, tensor({7, 8, 9})));
  const Tensor rows = ragged({{1}, {2, 2}, {}, {4, 4, 4}});
  EXPECT_TRUE(all_equal(train_test_split(rows, arange(4), {.shuffle = false}).x_test.values(), tensor({4, 4, 4})));
  EXPECT_EQ(text_of<DataError>([&] { train_test_split(x, arange(9)); }), "train_test_split: x has 10 rows, y 9; expected as many.");
  EXPECT_EQ(text_of<ArgumentError>([&] { train_test_split(x, y, {.test_size = 1}); }),
            "train_test_split: test_size is 1; expected 0 < test_size < 1.");
  EXPECT_EQ(text_of<ShapeError>([&] { train_test_split(Tensor(1), y); }),
            "train_test_split: x is i32[], y i32[10]; expected a first axis of rows.");
}

}  // namespace
}  // namespace anyshape::test
