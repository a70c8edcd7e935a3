// Rows of several shapes in fit, evaluate and predict: batches of one shape each, numbers as if each row were alone, one trace.
#include "support/temporary_folder.h"
#include "support/text_of.h"
#include "support/warnings.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace anyshape {
namespace {

const EvaluateOptions quietly{.verbose = Verbose::Silent};

// Brighter or darker than the middle: what tells the two classes apart, at any size.
struct Images {
  std::vector<Tensor> images;
  Tensor labels;
  std::vector<Tensor> one_by_one() const {
    std::vector<Tensor> batches;
    for (const Tensor& image : images) batches.push_back(expand_dims(image, 0));
    return batches;
  }
};
Images images_of(int64_t count, int64_t shapes) {
  Images all;
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t kind = i * 7 % shapes;
    labels.push_back(static_cast<int32_t>(i * 5 % 3 == 0));
    all.images.push_back(random::normal({2 + kind, 3 + kind * 3 % 5, 3}) + (labels.back() == 1 ? 0.5F : -0.5F));
  }
  all.labels = tensor(labels, {count});
  return all;
}

Model classifier() {
  Model model = Sequential(Lambda([](Tensor x) { return mean(x, {.axes = {1, 2}}); }), Dense(4, {.activation = "tanh"}),
                           Dense(2, {.activation = "softmax"}));
  model.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  return model;
}

TEST(UnequalImages, train_with_one_trace_and_give_results_in_their_order) {
  random::set_seed(1);
  const Images data = images_of(60, 9);
  Model model = classifier();
  const History history = model.fit(data.images, data.labels, {.batch_size = 4, .epochs = 8, .verbose = Verbose::Silent, .seed = 2});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
  EXPECT_EQ(model.train_step().stats().traces, 1);
  EXPECT_EQ(model.train_step().stats().compiles, 1);

  const Tensor results = model.predict(data.images, {.batch_size = 4});
  ASSERT_EQ(results.shape(), Shape({60, 2}));
  const std::vector<Tensor> alone = data.one_by_one();
  double loss = 0, right = 0;
  for (int64_t i = 0; i < 60; ++i) {
    const Tensor label = slice(data.labels, {{.begin = i, .end = i + 1}});
    const Scores scores = model.evaluate(alone[static_cast<size_t>(i)], label, quietly);
    loss += scores["loss"] / 60;
    right += scores["accuracy"] / 60;
    const Tensor own = model.predict(alone[static_cast<size_t>(i)]);
    EXPECT_TRUE(all_close(slice(results, {{.begin = i, .end = i + 1}}), own, {.relative = 1e-6, .absolute = 1e-7})) << i;
  }
  for (const int64_t batch_size : {1, 4, 100}) {
    const Scores scores = model.evaluate(data.images, data.labels, {.batch_size = batch_size, .verbose = Verbose::Silent});
    EXPECT_NEAR(scores["loss"], loss, 1e-6) << batch_size;
    EXPECT_NEAR(scores["accuracy"], right, 1e-6) << batch_size;
  }
}

// What a callback sees of an epoch.
struct Steps : Callback {
  std::shared_ptr<std::vector<int64_t>> per_epoch = std::make_shared<std::vector<int64_t>>();
  void on_epoch_begin(Model&, int64_t) override { per_epoch->push_back(0); }
  void on_batch_end(Model&, int64_t, const Scores&) override { ++per_epoch->back(); }
};

TEST(UnequalImages, are_batches_of_one_shape_and_all_of_them_in_every_epoch) {
  random::set_seed(1);
  const Images data = images_of(50, 4);
  std::multiset<float> sums;
  for (const Tensor& image : data.images) sums.insert(sum(image).item<float>());
  std::vector<std::vector<int64_t>> shapes;  // of the batches, in order
  std::multiset<float> seen;
  Model model = Sequential(Dense(1));
  model.compile({.optimizer = "sgd",
                 .step =
                     [&](Model& own, Optimizer&, const Batch& batch) {
                       const Tensor& x = batch.x[0];
                       std::vector<int64_t>& sizes = shapes.emplace_back();
                       for (const Dim& size : x.shape()) sizes.push_back(size.value());
                       for (const float each : sum(x, {.axes = {1, 2, 3}}).to_vector<float>()) seen.insert(each);
                       return mean(own(x)) * 0.0F;
                     },
                 .run_eagerly = true});
  const Steps steps;
  model.fit(data.images, data.labels, {.batch_size = 5, .epochs = 2, .verbose = Verbose::Silent, .callbacks = {steps}, .seed = 1});
  int64_t batches = 0;
  for (int64_t shape = 0; shape < 4; ++shape) batches += ((50 - shape + 3) / 4 + 4) / 5;
  EXPECT_EQ(*steps.per_epoch, (std::vector<int64_t>{batches, batches}));
  EXPECT_EQ(seen.size(), 100U);
  const std::vector<std::vector<int64_t>> first(shapes.begin(), shapes.begin() + batches), second(shapes.begin() + batches, shapes.end());
  EXPECT_NE(first, second) << "which batch comes when is drawn anew";
  EXPECT_FALSE(std::ranges::is_sorted(first, std::greater<>(), [](const std::vector<int64_t>& sizes) { return sizes[0]; }))
      << "batches that are not full do not all come last";
  shapes.clear();
  seen.clear();
  model.fit(data.images, data.labels, {.batch_size = 5, .epochs = 1, .verbose = Verbose::Silent, .shuffle = false});
  const auto near = [](float a, float b) { return std::abs(a - b) < 1e-3F; };
  EXPECT_TRUE(std::ranges::equal(seen, sums, near));
  EXPECT_TRUE(std::ranges::is_sorted(shapes, std::greater<>(), [](const std::vector<int64_t>& sizes) { return sizes[0]; }));
}

TEST(UnequalImages, carry_their_sample_weights_and_class_weights) {
  random::set_seed(3);
  const Images data = images_of(24, 5);
  Model model = classifier();
  model.fit(data.images, data.labels, {.verbose = Verbose::Silent});
  const Tensor weights = random::uniform({24});
  double by_hand = 0;
  for (int64_t i = 0; i < 24; ++i) {
    const Tensor image = data.one_by_one()[static_cast<size_t>(i)];
    by_hand += model.evaluate(image, slice(data.labels, {{.begin = i, .end = i + 1}}), quietly)["loss"] * weights.item<float>(i) / 24;
  }
  EXPECT_NEAR(model.evaluate(data.images, data.labels, {.batch_size = 7, .verbose = Verbose::Silent, .sample_weight = weights})["loss"],
              by_hand, 1e-6);

  // Weights of classes are weights of rows.
  const Tensor by_class = where(data.labels == 1, 3.0F, 0.25F);
  const auto trained = [&](FitOptions options) {
    Model own = model.clone();
    own.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy"});
    options.epochs = 2;
    options.verbose = Verbose::Silent;
    options.seed = 5;
    return own.fit(data.images, data.labels, std::move(options))["loss"];
  };
  EXPECT_EQ(trained({.batch_size = 4, .class_weight = {{0, 0.25}, {1, 3}}}), trained({.batch_size = 4, .sample_weight = by_class}));
  EXPECT_NE(trained({.batch_size = 4, .class_weight = {{0, 0.25}, {1, 3}}}), trained({.batch_size = 4}));
}

TEST(UnequalImages, keep_their_last_rows_for_validation) {
  random::set_seed(4);
  const Images data = images_of(40, 6);
  Model model = classifier();
  model.compile({.optimizer = sgd({.learning_rate = 0.0}), .loss = "sparse_categorical_crossentropy"});
  const std::vector<Tensor> last(data.images.begin() + 30, data.images.end());
  const Tensor labels = slice(data.labels, {{.begin = 30}});
  const History split = model.fit(data.images, data.labels, {.batch_size = 4, .verbose = Verbose::Silent, .validation_split = 0.25});
  const double wanted = model.evaluate(last, labels, quietly)["loss"];
  EXPECT_NEAR(split["val_loss"][0], wanted, 1e-6);
  const History given =
      model.fit(data.images, data.labels, {.batch_size = 4, .verbose = Verbose::Silent, .validation_data = {.x = last, .y = labels}});
  EXPECT_NEAR(given["val_loss"][0], wanted, 1e-6);
  EXPECT_EQ(model.train_step().stats().traces, 1);
}

TEST(UnequalImages, repeat_by_their_seed_and_eagerly) {
  random::set_seed(5);
  const Images data = images_of(30, 5);
  Model start = classifier();
  start.fit(data.images, data.labels, {.verbose = Verbose::Silent});
  const auto losses = [&](bool eagerly, int64_t seed) {
    Model model = start.clone();
    model.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy", .run_eagerly = eagerly});
    return model.fit(data.images, data.labels, {.batch_size = 4, .epochs = 3, .verbose = Verbose::Silent, .seed = seed})["loss"];
  };
  const std::vector<double> traced = losses(false, 7), eager = losses(true, 7);
  EXPECT_EQ(traced, losses(false, 7));
  EXPECT_NE(traced, losses(false, 8));
  for (size_t i = 0; i < traced.size(); ++i) EXPECT_NEAR(traced[i], eager[i], 1e-6);
}

TEST(UnequalImages, train_like_a_dataset_of_them_in_the_same_order) {
  random::set_seed(6);
  const Images data = images_of(30, 5);
  Model one = classifier();
  one.predict(slice(expand_dims(data.images[0], 0), {{}}));
  Model other = one.clone();
  other.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const std::vector<double> a =
      one.fit(data.images, data.labels, {.batch_size = 4, .epochs = 2, .verbose = Verbose::Silent, .shuffle = false})["loss"];
  const std::vector<double> b =
      other.fit(Dataset::from(data.images, data.labels).group_by_shape(4), {.epochs = 2, .verbose = Verbose::Silent})["loss"];
  EXPECT_EQ(a, b);
}

TEST(UnequalImages, that_differ_in_one_axis_are_grouped_where_by_shape_says_so) {
  random::set_seed(7);
  std::vector<Tensor> images;
  for (int64_t i = 0; i < 12; ++i) images.push_back(random::normal({2 + i % 3, 4, 3}));
  const Tensor labels = cast(arange(12) % 2, i32);
  Model model = classifier();
  model.fit(by_shape(images), labels, {.batch_size = 4, .verbose = Verbose::Silent});
  EXPECT_EQ(model.predict(by_shape(images)).shape(), Shape({12, 2}));
  const std::vector<Tensor> equal = {images[0], images[3]};
  EXPECT_EQ(model.predict(equal).shape(), Shape({2, 2}));
  EXPECT_EQ(model.train_step().stats().traces, 1);
}

TEST(UnequalImages, may_have_targets_of_their_own_shapes_and_other_inputs) {
  random::set_seed(8);
  std::vector<Tensor> images, masks;
  for (int64_t i = 0; i < 10; ++i) {
    images.push_back(random::normal({2 + i % 3, 5 - i % 2, 3}));
    masks.push_back(cast(sum(images.back(), {.axis = -1, .keep_dims = true}) > 0, f32));
  }
  Model model = Sequential(Dense(1, {.activation = "sigmoid"}));  // a result for each pixel
  model.compile({.optimizer = sgd({.learning_rate = 1}), .loss = "binary_crossentropy"});
  const History history = model.fit(images, masks, {.batch_size = 3, .epochs = 5, .verbose = Verbose::Silent});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
  EXPECT_EQ(test::text_of<ShapeError>([&] { model.predict(images); }),
            "predict: rows of several shapes have results of several shapes: f32[2, 2, 5, 1] and f32[2, 3, 4, 1]; expected one shape for "
            "all. Predict rows of one shape at a time.");

  const Tensor image = input({dynamic, dynamic, 3}, {.name = "image"}), number = input({2}, {.name = "number"});
  const Tensor mean_of = Lambda([](Tensor x) { return mean(x, {.axes = {1, 2}}); })(image);
  Model both({.inputs = {image, number}, .outputs = {Dense(1)(concat({mean_of, number}, {.axis = 1}))}});
  both.compile({.optimizer = "sgd", .loss = "mse"});
  const Data x = {{.name = "number", .tensor = random::normal({10, 2})}, {.name = "image", .rows = images}};
  both.fit(x, random::normal({10, 1}), {.batch_size = 3, .verbose = Verbose::Silent});
  const Tensor results = both.predict(x, {.batch_size = 3});
  const Data third = {{.name = "number", .tensor = slice(x.fields()[0].tensor, {{.begin = 3, .end = 4}})},
                      {.name = "image", .tensor = expand_dims(images[3], 0)}};
  EXPECT_TRUE(all_close(slice(results, {{.begin = 3, .end = 4}}), both.predict(third), {.relative = 1e-6, .absolute = 1e-7}));
}

TEST(UnequalImages, have_errors_with_their_own_row_numbers) {
  using test::text_of;
  random::set_seed(9);
  Images data = images_of(20, 5);
  Model model = Sequential(Dense(4), Lambda([](Tensor x) { return mean(x, {.axes = {1, 2}}); }), Dense(2, {.activation = "softmax"}));
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
  const auto fit = [&](const FitOptions& options = {.verbose = Verbose::Silent}) { model.fit(data.images, data.labels, options); };
  std::vector<int32_t> labels = data.labels.to_vector<int32_t>();
  labels[13] = 2;
  data.labels = tensor(labels, {20});
  EXPECT_EQ(text_of<DataError>(fit), "fit: the label in row 13 is 2; expected 0 <= label < 2, the number of classes that the model gives.");
  labels[13] = 1;
  data.labels = tensor(labels, {20});
  const Tensor whole = data.images[17];
  data.images[17] = updated(whole, at(0, 0, 1), Tensor(NAN));
  EXPECT_EQ(text_of<DataError>(fit),
            "fit: the inputs hold missing values from row 17 on: column 1 has 1 NaN; expected numbers. Fill them with FillMissing as the "
            "first layer, or drop the rows.");
  data.images[17] = whole;
  EXPECT_EQ(text_of<DataError>([&] { fit({.verbose = Verbose::Silent, .sample_weight = ones({19})}); }),
            "fit: the inputs have 20 rows, the sample weights 19; expected as many.");
  EXPECT_EQ(text_of<ArgumentError>([&] { fit({.batch_size = 0}); }), "fit: batch_size is 0; expected at least 1.");
  EXPECT_EQ(text_of<DataError>([&] { model.train_on_batch(data.images, data.labels); }),
            "train_on_batch: the rows have several shapes; expected one, since all are one step. Call fit, which groups them.");
  const std::vector<Tensor> alike = {data.images[0], data.images[0]};
  EXPECT_GT(model.train_on_batch(by_shape(alike), slice(data.labels, {{.end = 2}}))["loss"], 0);
  EXPECT_EQ(text_of<DataError>([&] {
              model.fit(Dataset::from_generator(
                            [&] { return [&]() -> std::optional<Example> { return Example{.x = data.images, .y = data.labels}; }; })
                            .take(1)
                            .batch(1));
            }),
            "Dataset::batch: element 0: a field has no tensor; expected one in each.");
}

class FolderOfImages : public testing::Test {
 protected:
  // Bright images are of class "bright". Sizes are few to many.
  void add(int count, int shapes) const {
    for (int i = 0; i < count; ++i) {
      const bool is_bright = i * 5 % 3 == 0;
      const Tensor image = random::uniform({3 + i % shapes, 4 + i / 2 % shapes, 3}) * 100 + (is_bright ? 150 : 0);
      const std::filesystem::path folder = folder_.path() / (is_bright ? "bright" : "dark");
      std::filesystem::create_directories(folder);
      write_png(folder / (std::to_string(1000 + i) + ".png"), image);
    }
  }
  std::filesystem::path root() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

Model scaled_classifier() {
  Model model = Sequential(Lambda([](Tensor x) { return mean(x, {.axes = {1, 2}}) / 255.0F - 0.5F; }), Dense(2, {.activation = "softmax"}));
  model.compile({.optimizer = adam({.learning_rate = 0.02}), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  return model;
}

TEST_F(FolderOfImages, of_2000_files_and_100_sizes_trains_with_one_trace_and_counts_images) {
  random::set_seed(10);
  add(2000, 10);
  Model model = scaled_classifier();
  const Dataset images = Dataset::from_image_folder(root());
  testing::internal::CaptureStdout();
  const History history = model.fit(images, {.batch_size = 16, .epochs = 3, .verbose = Verbose::Line});
  const std::string lines = testing::internal::GetCapturedStdout();
  EXPECT_NE(lines.find("Epoch 3/3  2000 images  "), std::string::npos) << lines;
  EXPECT_GT(history["accuracy"].back(), 0.95);
  EXPECT_EQ(model.train_step().stats().traces, 1);
  EXPECT_EQ(model.train_step().stats().compiles, 1);
  EXPECT_GE(static_cast<int>(model.train_step().stats().calls), 3 * 2000 / 16);

  const Scores scores = model.evaluate(images, quietly);
  double right = 0;
  int64_t number = 0;
  const std::vector<int64_t> classes = cast(argmax(model.predict(images), {.axis = -1}), i64).to_vector<int64_t>();
  for (const Example& element : images) right += classes[static_cast<size_t>(number++)] == element.y.single().item<int>() ? 1 : 0;
  EXPECT_EQ(number, 2000);
  EXPECT_NEAR(scores["accuracy"], right / 2000, 1e-6) << "predictions are in the order of the files";
}

TEST_F(FolderOfImages, is_shuffled_by_fit_unless_it_is_told_not_to) {
  random::set_seed(11);
  add(60, 3);
  Model model = scaled_classifier();
  const Dataset images = Dataset::from_image_folder(root());
  const auto losses = [&](FitOptions options) {
    Model own = model.is_built() ? model.clone() : model;
    own.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy"});
    options.batch_size = 8;
    options.epochs = 2;
    options.verbose = Verbose::Silent;
    return own.fit(images, std::move(options))["loss"];
  };
  model.predict(images);
  EXPECT_EQ(losses({.seed = 1}), losses({.seed = 1}));
  EXPECT_NE(losses({.seed = 1}), losses({.seed = 2}));
  EXPECT_EQ(losses({.shuffle = false, .seed = 1}), losses({.shuffle = false, .seed = 2}));
}

TEST_F(FolderOfImages, trains_without_damaged_files_and_behind_a_map_and_validates) {
  random::set_seed(12);
  add(80, 4);
  std::ofstream(root() / "dark" / "broken.png") << "broken";
  Model model = scaled_classifier();
  const Dataset strict = Dataset::from_image_folder(root());
  EXPECT_THROW(model.fit(strict, {.verbose = Verbose::Silent}), FormatError);
  const test::Warnings warnings;
  const Dataset images = Dataset::from_image_folder(root(), {.corrupt = Corrupt::Skip}).map([](const Example& e) {
    return Example{.x = flip(e.x.single(), 1), .y = e.y};
  });
  testing::internal::CaptureStdout();
  const History history = model.fit(images, {.epochs = 2, .verbose = Verbose::Line, .validation_data = {.dataset = images}});
  EXPECT_NE(testing::internal::GetCapturedStdout().find("80 images"), std::string::npos);
  EXPECT_EQ(warnings.texts().size(), 1U);
  EXPECT_EQ(history["val_loss"].size(), 2U);
  for (int time = 0; time < 2; ++time) EXPECT_EQ(model.predict(images).shape(), Shape({80, 2}));
  ASSERT_EQ(warnings.texts().size(), 2U);  // once for the file, once for the results
  const std::string broken = (root() / "dark" / "broken.png").string();
  EXPECT_EQ(warnings.texts()[1], "predict: 1 of 81 images cannot be read and have no row in the results: " + broken +
                                     ". The dataset's file_names() are the files of the rows.");
  const std::vector<std::string> names = images.file_names();
  EXPECT_EQ(names.size(), 80U);
  EXPECT_EQ(std::ranges::count(names, broken), 0);
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_TRUE(Dataset::from(ones({2, 1})).file_names().empty());
  EXPECT_EQ(test::text_of<ArgumentError>([&] { model.fit(images, {.batch_size = 0}); }), "fit: batch_size is 0; expected at least 1.");
}

}  // namespace
}  // namespace anyshape
