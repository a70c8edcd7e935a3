// What is wrong in targets, weights and inputs is told before training, by the user's rows.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <limits>

namespace anyshape {
namespace {

using test::text_of;

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
const FitOptions silent{.verbose = Verbose::Silent};
const char* const sparse = "sparse_categorical_crossentropy";
const char* const categorical = "categorical_crossentropy";

class TargetValues : public testing::TestWithParam<bool> {
 protected:
  static Model compiled(Model model, const Loss& loss) {
    model.compile({.optimizer = "sgd", .loss = loss, .run_eagerly = GetParam()});
    return model;
  }
  static Model classifier(const Loss& loss) { return compiled(Sequential(Dense(3, {.activation = softmax})), loss); }
  static Model tagger(const Loss& loss) { return compiled(Sequential(Embedding(10, 4), Dense(3, {.activation = softmax})), loss); }

  template <class Error>
  static std::string error(Model model, const Tensor& x, const Tensor& y, const FitOptions& options = silent) {
    const std::string text = text_of<Error>([&] { model.fit(x, y, options); });
    EXPECT_EQ(model.optimizer().iterations().read().item<int64_t>(), 0) << "it was found before training";
    return text;
  }
  static Tensor rows() { return ones({6, 4}); }
};
INSTANTIATE_TEST_SUITE_P(Modes, TargetValues, testing::Bool(),
                         [](const auto& mode) { return std::string(mode.param ? "eager" : "compiled"); });

TEST_P(TargetValues, that_are_missing_or_infinite_are_told_by_row_and_column) {
  const Tensor column = reshape(arange(18), {6, 3});
  const Tensor y = where(column == 10, nan, 1.0F), z = where(column == 10, infinity, 1.0F);
  EXPECT_EQ(error<DataError>(classifier("mse"), rows(), y),
            "fit: the targets hold missing values from row 3 on: column 1 has 1 NaN; expected numbers. Say .ignore_missing = true in the "
            "loss, or drop the rows.");
  EXPECT_EQ(error<DataError>(classifier("mse"), rows(), z),
            "fit: the targets hold infinite values from row 3 on: column 1 has 1 infinite; expected finite numbers. Clip them, or drop the "
            "rows.");
  EXPECT_EQ(error<DataError>(classifier(mse({.ignore_missing = true})), rows(), z).substr(0, 36), "fit: the targets hold infinite value");
  classifier(mse({.ignore_missing = true})).fit(rows(), y, silent);
  const Loss own = [](const Tensor& t, const Tensor& p) { return where(is_nan(t), 0, square(where(is_nan(t), 0, t) - p)); };
  classifier(own).fit(rows(), y, silent);  // takes its targets as they are
  EXPECT_EQ(text_of<DataError>([&] { classifier("mse").evaluate(rows(), y); }).substr(0, 38), "evaluate: the targets hold missing val");
}

TEST_P(TargetValues, of_a_dataset_are_told_by_element) {
  const Tensor y = where(reshape(arange(18), {6, 3}) == 13, nan, 1.0F);
  EXPECT_EQ(text_of<DataError>([&] { classifier("mse").evaluate(Dataset::from(rows(), y).batch(4)); }),
            "evaluate: the targets hold missing values from element 4 on: column 1 has 1 NaN; expected numbers. Say .ignore_missing = true "
            "in the loss, or drop the rows.");
  EXPECT_EQ(text_of<DataError>([&] { classifier(sparse).evaluate(Dataset::from(rows(), tensor({0, 1, 2, 0, 1, 5})).batch(4)); }),
            "evaluate: the label in element 5 is 5; expected 0 <= label < 3, the number of classes that the model gives.");
}

TEST_P(TargetValues, weights_and_inputs_are_finite) {
  FitOptions weighted = silent;
  weighted.sample_weight = tensor({1.0F, 1.0F, nan, 1.0F, nan, 1.0F});
  EXPECT_EQ(error<DataError>(classifier("mse"), rows(), ones({6, 3}), weighted),
            "fit: the sample weights hold missing values from row 2 on: 2 NaN; expected numbers. Weigh what is not to count by 0.");
  weighted.sample_weight = tensor({1.0F, 1.0F, 1.0F, -infinity, 1.0F, 1.0F});
  EXPECT_EQ(
      error<DataError>(classifier("mse"), rows(), ones({6, 3}), weighted),
      "fit: the sample weights hold infinite values from row 3 on: 1 infinite; expected finite numbers. Clip them, or drop the rows.");
  const Tensor x = where(reshape(arange(24), {6, 4}) % 4 == 2, infinity, 1.0F);
  EXPECT_EQ(error<DataError>(classifier("mse"), x, ones({6, 3})),
            "fit: the inputs hold infinite values: column 2 has 6 infinite; expected finite numbers. Clip them, or drop the rows.");
  FitOptions by_class = silent;
  by_class.class_weight = {{1, std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_EQ(error<ArgumentError>(classifier(sparse), rows(), tensor({0, 1, 2, 0, 1, 2}), by_class),
            "fit: class_weight of class 1 is nan; expected 0 or more.");
}

TEST_P(TargetValues, labels_out_of_range_are_told_with_their_row) {
  EXPECT_EQ(error<DataError>(classifier(sparse), rows(), tensor({0, 1, 2, 0, 3, 7})),
            "fit: the label in row 4 is 3; expected 0 <= label < 3, the number of classes that the model gives.");
  EXPECT_EQ(error<DataError>(classifier(sparse), rows(), tensor({{0}, {-1}, {2}, {0}, {3}, {7}})),
            "fit: the label in row 1 is -1; expected 0 <= label < 3, the number of classes that the model gives.");
  const FitOptions split{.verbose = Verbose::Silent, .validation_split = 0.34};
  EXPECT_EQ(error<DataError>(classifier(sparse), rows(), tensor({0, 1, 2, 0, 1, 7}), split),
            "fit: validation: the label in row 5 is 7; expected 0 <= label < 3, the number of classes that the model gives.");
  classifier(sparse_categorical_crossentropy({.ignore_class = -1})).fit(rows(), tensor({0, -1, 2, 0, 1, 2}), silent);
}

TEST_P(TargetValues, labels_are_whole) {
  EXPECT_EQ(error<DataError>(classifier(sparse), rows(), tensor({0.0F, 1.0F, 2.0F, 0.5F, 1.0F, 2.0F})),
            "fit: the label in row 3 is 0.5; expected whole numbers, the numbers of classes for sparse_categorical_crossentropy. Use "
            "categorical_crossentropy for probabilities per class.");
  EXPECT_EQ(
      error<DataError>(classifier(sparse), rows(), tensor({int64_t{0}, int64_t{1}, int64_t{1} << 32, int64_t{0}, int64_t{0}, int64_t{0}}))
          .substr(0, 36),
      "fit: the label in row 2 is 429496729");
  EXPECT_EQ(error<DataError>(classifier(sparse), rows(), full({6}, nan)),
            "fit: the targets hold missing values from row 0 on: 6 NaN; expected numbers. Drop the rows, or give them a class number and "
            "say .ignore_class in the loss.");
  classifier(sparse).fit(rows(), tensor({0.0F, 1.0F, 2.0F, 0.0F, 1.0F, 2.0F}), silent);
}

TEST_P(TargetValues, the_two_forms_of_labels_are_told_apart) {
  const Tensor numbers = tensor({0, 1, 2, 0, 1, 2});
  EXPECT_EQ(error<ShapeError>(classifier(sparse), rows(), one_hot(numbers, 3)),
            "fit: the targets are [6, 3], one-hot with a column per class; expected class numbers for sparse_categorical_crossentropy. Use "
            "categorical_crossentropy for one-hot targets, or give argmax(y, {.axis = -1}).");
  const std::string swapped =
      ", one class number for 3 classes; expected a column per class for categorical_crossentropy. Use sparse_categorical_crossentropy for "
      "class numbers, or give one_hot(y, 3).";
  EXPECT_EQ(error<ShapeError>(classifier(categorical), rows(), numbers), "fit: the targets are [6]" + swapped);
  EXPECT_EQ(error<ShapeError>(classifier(categorical), rows(), reshape(numbers, {6, 1})), "fit: the targets are [6, 1]" + swapped);
  Model model = classifier(sparse);
  for (const char* const metric : {"f1_score", "auc"}) {
    model.compile({.optimizer = "sgd", .loss = sparse, .metrics = {metric}, .run_eagerly = GetParam()});
    const std::string text = error<ShapeError>(model, rows(), numbers);
    EXPECT_NE(text.find("the target (a) has one value where the prediction (b) has several"), std::string::npos) << text;
    EXPECT_NE(text.find("Give one_hot(target, 3) where the target has class numbers. In metric"), std::string::npos) << text;
  }
}

TEST_P(TargetValues, ragged_rows_of_x_and_y_are_of_one_length) {
  const Tensor x = ragged<int32_t>({{1, 2}, {1, 2, 3}, {4}});
  EXPECT_EQ(error<DataError>(tagger(sparse), x, ragged<int32_t>({{1, 2}, {1, 2}, {0}})),
            "fit: rows of x and y differ in length: row 1 has 3 elements in x and 2 in y; expected as many, one target for each position.");
  EXPECT_EQ(error<DataError>(tagger(sparse), x, ragged<int32_t>({{1, 2, 0}, {1, 2}, {0}})),
            "fit: rows of x and y differ in length: row 0 has 2 elements in x and 3 in y; expected as many, one target for each position.");
  EXPECT_EQ(error<DataError>(tagger(sparse), x, ragged<int32_t>({{1, 2}, {1, 2, 0}, {5}})),
            "fit: the label in row 2 is 5; expected 0 <= label < 3, the number of classes that the model gives.");
  tagger(sparse).fit(x, ragged<int32_t>({{1, 2}, {1, 2, 0}, {0}}), silent);
}

TEST(TargetForms, of_losses_called_by_hand_are_told_apart) {
  const Tensor p = ones({2, 3});
  EXPECT_EQ(text_of<ShapeError>([&] { sparse_categorical_crossentropy()(ones({2, 3}), p); }),
            "sparse_categorical_crossentropy: the target (a) is one-hot, with a column per class: a is f32[2, 3], b is f32[2, 3]; expected "
            "class numbers: a target of the prediction's shape without the axis of classes, or with a 1 there. Use "
            "categorical_crossentropy for one-hot targets; argmax(target, {.axis = -1}) makes them. In loss "
            "\"sparse_categorical_crossentropy\".");
  EXPECT_EQ(text_of<DataError>([&] { sparse_categorical_crossentropy()(tensor({0, 3}), p); }),
            "sparse_categorical_crossentropy: the label is 3 at position 1; expected 0 <= label < 3, as the prediction has 3 classes. In "
            "loss \"sparse_categorical_crossentropy\".");
  EXPECT_EQ(text_of<DataError>([&] { sparse_categorical_crossentropy()(tensor({0.0F, 0.5F}), p); }),
            "sparse_categorical_crossentropy: a label is no whole number at position 1; expected 0 <= label < 3, as the prediction has 3 "
            "classes. In loss \"sparse_categorical_crossentropy\".");
}

TEST(FloatIds, are_whole) {
  const Embedding layer(10, 4);
  EXPECT_TRUE(all_equal(layer(tensor({2.0F, 9.0F})), layer(tensor({2, 9}))));
  EXPECT_EQ(text_of<DataError>([&] { layer(tensor({2.0F, 2.5F})); }),
            "take: the index at position 1 is no whole number, or too large for one; expected whole numbers, 0 <= index < 10. Round "
            "floating ids, or give them as i32 or i64. In layer \"embedding\".");
  EXPECT_THROW(layer(tensor({nan})), DataError);
  Model model = Sequential(layer, Flatten(), Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_THROW(model.fit(full({4, 2}, 0.5F), ones({4, 1}), silent), DataError);
}

TEST_P(TargetValues, of_the_least_integer_are_no_class) {
  const Tensor y = tensor({int64_t{0}, std::numeric_limits<int64_t>::min()});
  EXPECT_NE(error<DataError>(classifier(sparse), ones({2, 4}), y).find("the label in row 1"), std::string::npos);
}

}  // namespace
}  // namespace anyshape
