// What fit, evaluate and predict refuse: each with its text, and the weights as they were.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <limits>

namespace anyshape {
namespace {

using test::text_of;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
const FitOptions silent{.verbose = Verbose::Silent};

class FitErrors : public testing::Test {
 protected:
  FitErrors() {
    random::set_seed(1);
    model_(ones({1, 3}));
    model_.compile({.optimizer = "adam", .loss = "mse"});
    before_ = model_.weights();
  }
  ~FitErrors() override {
    for (size_t i = 0; i < before_.size(); ++i) EXPECT_TRUE(all_equal(model_.weights()[i], before_[i])) << "weight " << i << " changed";
    EXPECT_EQ(model_.optimizer().iterations().read().item<int64_t>(), 0);
  }

  template <class Error>
  std::string fit_error(const Data& x, const Data& y, const FitOptions& options = silent) {
    return text_of<Error>([&] { model_.fit(x, y, options); });
  }

  Model model_ = Sequential(Dense(4), Dense(2));
  std::vector<Tensor> before_;
};

constexpr const char* cure = "; expected numbers. Fill them with FillMissing as the first layer, or drop the rows.";

TEST_F(FitErrors, missing_values_of_tensors_are_told_by_column_and_count) {
  const Tensor x = tensor({{1.0F, 2.0F, 3.0F}, {4.0F, nan, 5.0F}, {6.0F, nan, nan}});
  EXPECT_EQ(fit_error<DataError>(x, ones({3, 2})),
            std::string("fit: the inputs hold missing values: column 1 has 2 NaN, 1 more column has some") + cure);
  EXPECT_EQ(text_of<DataError>([&] { model_.evaluate(x, ones({3, 2})); }),
            std::string("evaluate: the inputs hold missing values: column 1 has 2 NaN, 1 more column has some") + cure);
  EXPECT_EQ(text_of<DataError>([&] { model_.predict(x); }),
            std::string("predict: the inputs hold missing values: column 1 has 2 NaN, 1 more column has some") + cure);
  const FitOptions validated{.verbose = Verbose::Silent, .validation_data = {.x = x, .y = ones({3, 2})}};
  EXPECT_EQ(fit_error<DataError>(ones({3, 3}), ones({3, 2}), validated),
            std::string("fit: validation: the inputs hold missing values: column 1 has 2 NaN, 1 more column has some") + cure);
}

TEST_F(FitErrors, missing_values_of_datasets_are_told_by_element) {
  model_.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse"});  // the batches before it are trained on
  const Tensor x = where(arange(30) == 22, full({30}, nan), ones({30}));
  const std::string text = text_of<DataError>([&] { model_.fit(Dataset::from(reshape(x, {10, 3}), ones({10, 2})).batch(4), silent); });
  EXPECT_EQ(text, std::string("fit: the inputs hold missing values from element 7 on: column 1 has 1 NaN") + cure);
  model_.compile({.optimizer = "adam", .loss = "mse"});
}

TEST_F(FitErrors, missing_values_go_to_the_layer_that_takes_them) {
  const Tensor table = tensor({{1.0F, nan}, {3.0F, 4.0F}});
  FillMissing fill({.strategy = Missing::Mean});
  fill.adapt(table);
  const Tensor a = input({2}, {.name = "table"}), b = input({2}, {.name = "plain"});
  Model both(FunctionalOptions{.inputs = {a, b}, .outputs = {Dense(1)(Concatenate()({fill(a), Dense(2)(b)}))}});
  both.compile({.optimizer = "sgd", .loss = "mse"});
  both.fit(inputs({table, ones({2, 2})}), ones({2, 1}), silent);
  EXPECT_EQ(text_of<DataError>([&] { both.fit(inputs({table, table}), ones({2, 1}), silent); }),
            std::string("fit: input 1 holds missing values: column 1 has 1 NaN") + cure);
}

TEST_F(FitErrors, counts_that_differ_and_empty_data) {
  EXPECT_EQ(fit_error<DataError>(ones({4, 3}), ones({5, 2})), "fit: the inputs have 4 rows, the targets 5; expected as many.");
  EXPECT_EQ(fit_error<DataError>(ones({4, 3}), ones({4, 2}), {.verbose = Verbose::Silent, .sample_weight = ones({3})}),
            "fit: the inputs have 4 rows, the sample weights 3; expected as many.");
  EXPECT_EQ(fit_error<DataError>(zeros({0, 3}), zeros({0, 2})), "fit: the inputs have no rows; expected at least one.");
  EXPECT_EQ(fit_error<DataError>(Data(), ones({4, 2})), "fit: no inputs are given; expected a tensor, rows or inputs().");
  EXPECT_EQ(fit_error<DataError>(ones({4, 3}), Data()), "fit: no targets are given; expected a tensor, rows or inputs().");
  EXPECT_EQ(fit_error<ShapeError>(Tensor(1.0F), ones({1, 2})), "data: a scalar is given; expected rows along the first axis.");
  EXPECT_EQ(text_of<DataError>([&] { model_.fit(Dataset::from(zeros({0, 3}), zeros({0, 2})).batch(2), silent); }),
            "fit: the dataset is empty; expected at least one batch.");
  EXPECT_EQ(fit_error<DataError>(ones({4, 3}), ones({4, 2}), {.verbose = Verbose::Silent, .validation_split = 0.9}),
            "fit: validation_split 0.9 of 4 rows leaves 0 for training; expected some on both sides.");
  EXPECT_EQ(text_of<DataError>([&] { model_.evaluate(zeros({0, 3}), zeros({0, 2})); }),
            "evaluate: the inputs have no rows; expected at least one.");
}

TEST_F(FitErrors, shapes_that_do_not_fit_the_model_or_the_loss) {
  const std::string columns = fit_error<ShapeError>(ones({4, 5}), ones({4, 2}));
  EXPECT_NE(columns.find("matmul: inner sizes differ"), std::string::npos) << columns;
  EXPECT_NE(columns.find("f32[3, 4]"), std::string::npos) << columns;  // the kernel
  const std::string targets = fit_error<ShapeError>(ones({4, 3}), ones({4, 7}));
  EXPECT_NE(targets.find('7'), std::string::npos) << targets;
  EXPECT_NE(targets.find("loss"), std::string::npos) << targets;
}

TEST_F(FitErrors, options_out_of_their_range) {
  const Tensor x = ones({4, 3}), y = ones({4, 2});
  EXPECT_EQ(fit_error<ArgumentError>(x, y, {.batch_size = 0}), "fit: batch_size is 0; expected at least 1.");
  EXPECT_EQ(fit_error<ArgumentError>(x, y, {.epochs = 0}), "fit: epochs is 0; expected at least 1.");
  EXPECT_EQ(fit_error<ArgumentError>(x, y, {.validation_split = 1}), "fit: validation_split is 1; expected 0 <= split < 1.");
  EXPECT_EQ(fit_error<ArgumentError>(x, y, {.validation_split = 0.5, .validation_data = {.x = x, .y = y}}),
            "fit: validation_split and validation_data are both given; expected one of them.");
  EXPECT_EQ(fit_error<ArgumentError>(x, y, {.class_weight = {{0, 2.0}}, .sample_weight = ones({4})}),
            "fit: class_weight and sample_weight are both given; expected one of them.");
  const Dataset single = Dataset::from(x, y);
  EXPECT_EQ(fit_error<ArgumentError>(x, y, {.batch_size = -3}), "fit: batch_size is -3; expected at least 1.");
  EXPECT_EQ(fit_error<ArgumentError>(x, y, {.validation_data = {.x = x, .y = y, .dataset = single.batch(2)}}),
            "fit: validation_data has tensors and a dataset; expected one of them.");
  EXPECT_EQ(fit_error<ArgumentError>(x, y, {.validation_data = {.y = y}}), "fit: validation_data has .y and no .x; expected both.");
  EXPECT_EQ(text_of<ArgumentError>([&] { model_.evaluate(single.batch(2), {.sample_weight = ones({4})}); }),
            "evaluate: sample_weight needs tensors; expected the weights in the dataset.");
  EXPECT_EQ(text_of<ArgumentError>([&] { model_.fit(single, silent); }),
            "fit: the dataset gives single elements; expected batches. Call batch(size) on it.");
  EXPECT_EQ(text_of<ArgumentError>([&] { model_.fit(single.repeat().batch(2), silent); }),
            "fit: the dataset has no end; expected one that ends. Call take(count) on it.");
}

TEST_F(FitErrors, unequal_counts_are_found_before_rows_are_split_off) {
  const FitOptions split{.verbose = Verbose::Silent, .validation_split = 0.1};
  EXPECT_EQ(fit_error<DataError>(ones({10, 3}), ones({12, 2}), split), "fit: the inputs have 10 rows, the targets 12; expected as many.");
  FitOptions weighted = split;
  weighted.sample_weight = ones({11});
  EXPECT_EQ(fit_error<DataError>(ones({10, 3}), ones({10, 2}), weighted),
            "fit: the inputs have 10 rows, the sample weights 11; expected as many.");
  EXPECT_EQ(fit_error<DataError>(inputs({{"a", ones({10, 3})}, {"b", ones({11, 3})}}), ones({10, 2}), split),
            "fit: the inputs have 10 rows, the further inputs 11; expected as many.");
}

TEST_F(FitErrors, names_that_the_model_does_not_have) {
  const Tensor a = input({3}, {.name = "left"}), b = input({3}, {.name = "right"});
  Model named(FunctionalOptions{.inputs = {a, b}, .outputs = {Dense(1, {.name = "sum"})(Add()({a, b}))}});
  named.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_EQ(text_of<ArgumentError>([&] { named.fit(inputs({{"left", ones({2, 3})}, {"rihgt", ones({2, 3})}}), ones({2, 1}), silent); }),
            "fit: \"rihgt\" is no input; expected \"right\".");
  EXPECT_EQ(text_of<ArgumentError>([&] { named.fit(inputs({{"left", ones({2, 3})}, {"left", ones({2, 3})}}), ones({2, 1}), silent); }),
            "fit: the input \"left\" is given twice; expected each once.");
  EXPECT_EQ(text_of<ArgumentError>([&] { named.fit(ones({2, 3}), ones({2, 1}), silent); }),
            "fit: 1 input is given; expected 2: left, right.");
  EXPECT_EQ(text_of<ArgumentError>([&] { model_.compile({.optimizer = "adma", .loss = "mse"}); }),
            "optimizer: \"adma\" is no optimizer; expected one of \"adam\", \"adamw\".");
}

TEST(ModelErrors, an_unbuilt_or_uncompiled_model_says_what_to_do) {
  Model model = Sequential(Dense(2));
  EXPECT_EQ(text_of<ArgumentError>([&] { model.fit(ones({2, 3}), ones({2, 2})); }),
            "fit: the model is not compiled; expected compile({.optimizer = ..., .loss = ...}) before.");
  EXPECT_EQ(text_of<ArgumentError>([&] { model.train_step(); }),
            "train_step: the model is not compiled; expected compile({.optimizer = ..., .loss = ...}) before.");
  EXPECT_EQ(text_of<ArgumentError>([&] { model.weights(); }).substr(0, 40), "weights: layer \"sequential\" is not built");
  EXPECT_EQ(text_of<ArgumentError>([&] { model.compile({.optimizer = "sgd"}); }),
            "compile: no loss is given; expected .loss, .losses or a .step of your own.");
  EXPECT_EQ(model.predict(ones({2, 3})).shape(), Shape({2, 2}));  // builds it
}

TEST(ModelErrors, an_empty_handle_is_told_by_every_member) {
  Model none;
  const Tensor x = ones({2, 3});
  const Dataset data = Dataset::from(x, x).batch(2);
  const std::string tail = ": the handle is empty; expected a model of layers, as Sequential(...).";
  EXPECT_EQ(text_of<ArgumentError>([&] { none.compile({.loss = "mse"}); }), "compile" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.fit(x, x); }), "fit" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.fit(data); }), "fit" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.evaluate(x, x); }), "evaluate" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.evaluate(data); }), "evaluate" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.predict(x); }), "predict" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.predict(data); }), "predict" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.train_on_batch(x, x); }), "train_on_batch" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.train_step(); }), "train_step" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.optimizer(); }), "optimizer" + tail);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.stop_training(); }), "stop_training" + tail);
  const std::string as_layer = "layer: the handle is empty; expected a layer.";
  EXPECT_EQ(text_of<ArgumentError>([&] { none.outputs({x}); }), as_layer);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.summary(); }), as_layer);
  EXPECT_EQ(text_of<ArgumentError>([&] { static_cast<void>(none.layer("dense")); }), as_layer);
  EXPECT_EQ(text_of<ArgumentError>([&] { static_cast<void>(none.clone()); }), as_layer);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.save_weights("weights.safetensors"); }), as_layer);
  EXPECT_EQ(text_of<ArgumentError>([&] { none.load_weights("weights.safetensors"); }), as_layer);
  EXPECT_EQ(text_of<ArgumentError>([] { Model{AnyLayer()}; }), "model: the layer's handle is empty; expected a layer.");
}

TEST(ModelErrors, options_of_compile_that_contradict_each_other) {
  Model model = Sequential(Dense(2));
  auto error = [&](const CompileOptions& options) { return text_of<ArgumentError>([&] { model.compile(options); }); };
  EXPECT_EQ(error({.losses = {"mse", "mae"}}), "compile: .losses has 2 values for 1 output; expected one per output.");
  EXPECT_EQ(error({.loss = "mse", .loss_weights = {1, 2, 3}}),
            "compile: .loss_weights has 3 values for 1 output; expected one per output.");
  const std::string several =
      " has several results; expected one number per epoch. Give it one threshold or an average, or update it yourself.";
  EXPECT_EQ(error({.loss = "mse", .metrics = {"mae", precision({.thresholds = {0.2, 0.8}})}}),
            "compile: the metric \"precision\"" + several);
  EXPECT_EQ(error({.loss = "mse", .weighted_metrics = {f1_score({.average = Average::None})}}),
            "compile: the metric \"f1_score\"" + several);
  const StepFunction step = [](Model& own, Optimizer&, const Tensor& x, const Tensor&) { return mean(own(x)); };
  EXPECT_EQ(error({.metrics = {"mae"}, .step = step}),
            "compile: metrics are given with a .step of your own, which alone has the predictions; expected one of the two. A step may "
            "return metrics beside its loss, as a StepResult.");
  model.compile({.loss = "mse", .metrics = {precision({.thresholds = {0.2}}), f1_score({.average = Average::Micro}), "auc"}});
  const Tensor x = input({3});
  Model two(FunctionalOptions{.inputs = {x}, .outputs = {Dense(1)(x), Dense(1)(x)}});
  EXPECT_EQ(text_of<ArgumentError>([&] { two.compile({.losses = {"mse"}}); }),
            "compile: .losses has 1 value for 2 outputs; expected one per output.");
  two.compile({.losses = {"mse", "mae"}, .loss_weights = {1, 0.5}});
}

TEST(ModelErrors, labels_out_of_range_leave_the_weights) {
  random::set_seed(2);
  Model model = Sequential(Dense(3, {.activation = softmax}));
  model(ones({1, 2}));
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
  const std::vector<Tensor> before = model.weights();
  const std::string error = text_of<DataError>([&] { model.fit(ones({4, 2}), tensor({0, 1, 7, 2}), {.verbose = Verbose::Silent}); });
  EXPECT_NE(error.find('7'), std::string::npos) << error;
  EXPECT_TRUE(all_equal(model.weights()[0], before[0]));
  EXPECT_EQ(model.optimizer().iterations().read().item<int64_t>(), 0);
}

}  // namespace
}  // namespace anyshape
