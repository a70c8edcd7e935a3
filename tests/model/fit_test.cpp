// fit, evaluate, predict and train_on_batch: one trace whatever the sizes, and the numbers that batches, threads and spelling do not change.
#include "runtime/cpu/pool.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anyshape {
namespace {

const FitOptions silent{.verbose = Verbose::Silent};
const EvaluateOptions quietly{.verbose = Verbose::Silent};

Model small_model(Dtype dtype = Dtype::f32) {
  return Sequential(Dense(8, {.activation = tanh, .dtype = dtype}), Dense(3, {.activation = softmax, .dtype = dtype}));
}

struct Rows {
  Tensor x = random::normal({50, 4});
  Tensor y = random::integers({50}, {.high = 3});
};

void expect_equal_weights(const Model& a, const Model& b) {
  const std::vector<Tensor> first = a.weights(), second = b.weights();
  ASSERT_EQ(first.size(), second.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(all_equal(first[i], second[i])) << "weight " << i;
}

TEST(Fit, has_one_trace_with_the_tail_batch_and_other_batch_sizes) {
  random::set_seed(1);
  const Rows rows;
  Model model = small_model();
  model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const History history = model.fit(rows.x, rows.y, {.batch_size = 8, .epochs = 20, .verbose = Verbose::Silent});
  EXPECT_EQ(history.epochs(), 20);
  EXPECT_LT(history["loss"].back(), history["loss"].front());
  model.fit(rows.x, rows.y, {.batch_size = 50, .verbose = Verbose::Silent});
  model.train_on_batch(rows.x, rows.y);
  const FunctionStats stats = model.train_step().stats();
  EXPECT_EQ(stats.traces, 1);
  EXPECT_EQ(stats.compiles, 1);
  EXPECT_EQ(stats.calls, 20 * 7 + 1 + 1);
  EXPECT_EQ(stats.interpreted_groups, 0);
}

TEST(Fit, gives_one_epoch_loss_for_every_batch_size_which_is_that_of_evaluate) {
  random::set_seed(2);
  const Tensor x = random::normal({50, 4}, {.dtype = Dtype::f64}), y = random::integers({50}, {.high = 3});
  Model model = small_model(Dtype::f64);
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const Scores whole = model.evaluate(x, y, {.batch_size = 50, .verbose = Verbose::Silent});
  for (const int64_t size : {1, 3, 7, 50, 64}) {
    const History history = model.fit(x, y, {.batch_size = size, .verbose = Verbose::Silent});
    EXPECT_NEAR(history["loss"][0], whole["loss"], 1e-10) << size;
    EXPECT_NEAR(history["accuracy"][0], whole["accuracy"], 1e-6) << size;
    EXPECT_NEAR(model.evaluate(x, y, {.batch_size = size, .verbose = Verbose::Silent})["loss"], whole["loss"], 1e-10) << size;
  }
}

TEST(Fit, gives_the_same_numbers_eagerly_dropout_and_shuffle_included) {
  random::set_seed(3);
  const Rows rows;
  Model compiled = Sequential(Dense(8, {.activation = relu}), Dropout(0.3), Dense(3, {.activation = softmax}));
  compiled(rows.x);
  Model eager = compiled.clone();
  compiled.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
  eager.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .run_eagerly = true});
  const FitOptions options{.batch_size = 16, .epochs = 3, .verbose = Verbose::Silent, .seed = 7};
  const History first = compiled.fit(rows.x, rows.y, options), second = eager.fit(rows.x, rows.y, options);
  for (size_t epoch = 0; epoch < 3; ++epoch) EXPECT_NEAR(first["loss"][epoch], second["loss"][epoch], 1e-5);
  EXPECT_EQ(eager.train_step().stats().traces, 0);
}

TEST(Fit, is_repeated_by_its_seed) {
  random::set_seed(4);
  const Rows rows;
  Model first = small_model();
  first(rows.x);
  Model second = first.clone(), other = first.clone();
  for (Model model : {first, second, other}) model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
  first.fit(rows.x, rows.y, {.batch_size = 8, .epochs = 2, .verbose = Verbose::Silent, .seed = 5});
  second.fit(rows.x, rows.y, {.batch_size = 8, .epochs = 2, .verbose = Verbose::Silent, .seed = 5});
  other.fit(rows.x, rows.y, {.batch_size = 8, .epochs = 2, .verbose = Verbose::Silent, .seed = 6});
  expect_equal_weights(first, second);
  EXPECT_FALSE(all_equal(first.weights()[0], other.weights()[0]));
}

TEST(Fit, has_the_same_bits_for_any_number_of_threads) {
  std::vector<Tensor> wanted;
  for (const int threads : {1, 2, 3, 8}) {
    const runtime::ScopedPool pool(threads);
    random::set_seed(5);
    const Tensor x = random::normal({200, 64}), y = random::integers({200}, {.high = 10});
    Model model = Sequential(Dense(128, {.activation = relu}), Dropout(0.2), Dense(10, {.activation = softmax}));
    model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
    model.fit(x, y, {.batch_size = 32, .epochs = 4, .verbose = Verbose::Silent});
    if (wanted.empty()) wanted = model.weights();
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(all_equal(model.weights()[i], wanted[i])) << threads << " threads, weight " << i;
  }
}

TEST(Fit, trains_rows_of_unequal_length_as_they_are) {
  random::set_seed(6);
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < 30; ++i) rows.push_back(random::normal({1 + i % 7, 3}));
  const Tensor y = random::normal({30, 2});
  Model model = Sequential(Dense(5, {.activation = tanh}), GlobalAveragePooling1D(), Dense(2));
  model.compile({.optimizer = "adam", .loss = "mse"});
  double one_by_one = 0;
  for (int64_t i = 0; i < 30; ++i) {
    const Tensor target = slice(y, {{.begin = i, .end = i + 1}});
    one_by_one += model.evaluate(expand_dims(rows[static_cast<size_t>(i)], 0), target, quietly)["loss"] / 30;
  }
  EXPECT_NEAR(model.evaluate(rows, y, {.batch_size = 7, .verbose = Verbose::Silent})["loss"], one_by_one, 1e-6);
  const History history = model.fit(rows, y, {.batch_size = 8, .epochs = 10, .verbose = Verbose::Silent});
  EXPECT_LT(history["loss"].back(), history["loss"].front());
  // A batch whose rows happen to be equally long is of the same kind.
  const std::vector<Tensor> equal = {rows[0], rows[7], rows[14], rows[1]};
  model.fit(equal, slice(y, {{.end = 4}}), {.batch_size = 3, .shuffle = false});
  EXPECT_EQ(model.train_step().stats().traces, 1);
  EXPECT_EQ(model.predict(rows, {.batch_size = 4}).shape(), Shape({30, 2}));
}

TEST(Fit, adds_regularizers_and_losses_of_layers) {
  class Penalised : public Layer {
   public:
    Tensor call(const Tensor& input, const CallContext&) override {
      add_loss(sum(square(input)) * 0.5F);
      return input;
    }
  };
  Model model = Sequential(Penalised(), Dense(1, {.kernel_initializer = "ones", .kernel_regularizer = l2(0.1)}));
  model.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "mse"});
  const Tensor x = tensor({{1.0F, 2.0F}, {3.0F, 4.0F}}), y = tensor({{2.0F}, {8.0F}});
  // mse: ((3 - 2)^2 + (7 - 8)^2) / 2 = 1; the layer: 30 / 2; the kernel: 0.1 * 2.
  EXPECT_NEAR(model.evaluate(x, y, quietly)["loss"], 1 + 15 + 0.2, 1e-5);
  EXPECT_NEAR(model.train_on_batch(x, y)["loss"], 1 + 15 + 0.2, 1e-5);
  // d mse / d kernel = x^T (p - y) = [1 - 3, 2 - 4]; of the penalty 0.2 * kernel.
  EXPECT_TRUE(all_close(model.weights()[0], tensor({{1 - 0.1F * (-2 + 0.2F)}, {1 - 0.1F * (-2 + 0.2F)}})));
}

TEST(Fit, penalises_trained_weights_and_each_once) {
  const DenseOptions options{.use_bias = false, .kernel_initializer = "ones", .kernel_regularizer = l2(0.1)};
  AnyLayer shared = layer(Dense(2, options)), frozen = layer(Dense(1, options));
  Model model = Sequential(Sequential(shared), Sequential(shared), frozen);
  const Tensor x = zeros({4, 2}), y = zeros({4, 1});
  model(x);
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse"});
  EXPECT_NEAR(model.evaluate(x, y, quietly)["loss"], 0.1 * (4 + 2), 1e-6);
  frozen.set_trainable(false);
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse"});
  EXPECT_NEAR(model.evaluate(x, y, quietly)["loss"], 0.1 * 4, 1e-6);
  EXPECT_NEAR(model.train_on_batch(x, y)["loss"], 0.1 * 4, 1e-6);
}

TEST(Fit, takes_a_batch_of_any_size) {
  Model model = Sequential(Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  constexpr int64_t huge = std::numeric_limits<int64_t>::max();
  const Tensor x = ones({5, 2}), y = ones({5, 1});
  EXPECT_EQ(model.fit(x, y, {.batch_size = huge, .epochs = 2, .verbose = Verbose::Silent}).epochs(), 2);
  EXPECT_EQ(model.optimizer().iterations().read().item<int64_t>(), 2);
  EXPECT_EQ(model.predict(x, {.batch_size = huge}).shape(), Shape({5, 1}));
}

TEST(Fit, runs_a_step_of_the_users_own) {
  random::set_seed(7);
  const Rows rows;
  Model own = small_model();
  own(rows.x);
  Model built_in = own.clone();
  own.compile({.optimizer = sgd({.learning_rate = 0.1}), .step = [](Model& model, Optimizer& optimizer, const Tensor& x, const Tensor& y) {
                 GradientTape tape;
                 const Tensor loss = sparse_categorical_crossentropy()(y, model(x));
                 optimizer.apply(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
                 return loss;
               }});
  built_in.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy"});
  const FitOptions options{.batch_size = 8, .epochs = 2, .verbose = Verbose::Silent, .shuffle = false};
  const History first = own.fit(rows.x, rows.y, options), second = built_in.fit(rows.x, rows.y, options);
  for (size_t epoch = 0; epoch < 2; ++epoch) EXPECT_NEAR(first["loss"][epoch], second["loss"][epoch], 1e-6);
  EXPECT_EQ(own.train_step().stats().traces, 1);
}

TEST(Fit, takes_the_kind_of_sizes_it_is_asked_for) {
  random::set_seed(8);
  const Rows rows;
  Model model = small_model();
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy"});
  model.fit(rows.x, rows.y, {.batch_size = 20, .verbose = Verbose::Silent, .shapes = Shapes::Exact});
  EXPECT_EQ(model.train_step().stats().traces, 2);  // 20 rows, and the 10 of the tail
  model.fit(rows.x, rows.y, {.batch_size = 20, .verbose = Verbose::Silent});
  EXPECT_EQ(model.train_step().stats().traces, 1);
}

TEST(Fit, validates_on_the_last_rows_or_on_given_ones) {
  random::set_seed(9);
  const Rows rows;
  Model model = small_model();
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  const History split = model.fit(rows.x, rows.y, {.verbose = Verbose::Silent, .validation_split = 0.2});
  const Tensor last_x = slice(rows.x, {{.begin = 40}}), last_y = slice(rows.y, {{.begin = 40}});
  const Scores wanted = model.evaluate(last_x, last_y, quietly);
  EXPECT_NEAR(split["val_loss"][0], wanted["loss"], 1e-6);
  EXPECT_NEAR(split["val_accuracy"][0], wanted["accuracy"], 1e-6);
  const History given = model.fit(rows.x, rows.y, {.verbose = Verbose::Silent, .validation_data = {.x = last_x, .y = last_y}});
  EXPECT_NEAR(given["val_loss"][0], wanted["loss"], 1e-6);
  const History dataset = model.fit(Dataset::from(rows.x, rows.y).batch(8),
                                    {.verbose = Verbose::Silent, .validation_data = {.dataset = Dataset::from(last_x, last_y).batch(3)}});
  EXPECT_NEAR(dataset["val_loss"][0], wanted["loss"], 1e-6);
  EXPECT_EQ(model.train_step().stats().traces, 1);
}

TEST(Fit, over_a_dataset_is_fit_over_its_tensors) {
  random::set_seed(10);
  const Rows rows;
  Model first = small_model();
  first(rows.x);
  Model second = first.clone();
  for (Model model : {first, second}) model.compile({.optimizer = "adam", .loss = "sparse_categorical_crossentropy"});
  first.fit(rows.x, rows.y, {.batch_size = 8, .epochs = 2, .verbose = Verbose::Silent, .shuffle = false});
  second.fit(Dataset::from(rows.x, rows.y).batch(8).prefetch(2), {.epochs = 2, .verbose = Verbose::Silent});
  expect_equal_weights(first, second);
  EXPECT_TRUE(all_equal(first.predict(rows.x), second.predict(Dataset::from(rows.x).batch(7))));
}

TEST(Fit, takes_inputs_and_targets_by_position_and_by_name) {
  random::set_seed(11);
  const Tensor a = input({3}, {.name = "a"}), b = input({2}, {.name = "b"});
  const Tensor joined = Concatenate()({Dense(4)(a), Dense(4)(b)});
  Model model(FunctionalOptions{.inputs = {a, b}, .outputs = {Dense(2, {.name = "left"})(joined), Dense(1, {.name = "right"})(joined)}});
  model.compile({.optimizer = sgd({.learning_rate = 0}), .losses = {"mse", "mae"}, .loss_weights = {1, 0.5}});
  const Tensor first = random::normal({10, 3}), second = random::normal({10, 2}), left = random::normal({10, 2}),
               right = random::normal({10, 1});
  const double positional = model.evaluate(inputs({first, second}), inputs({left, right}), quietly)["loss"];
  const double named = model.evaluate(inputs({{"b", second}, {"a", first}}), inputs({{"right", right}, {"left", left}}), quietly)["loss"];
  EXPECT_EQ(positional, named);
  model.fit(inputs({first, second}), inputs({left, right}), {.batch_size = 4, .verbose = Verbose::Silent});
  EXPECT_EQ(model.train_step().stats().traces, 1);
}

TEST(Fit, casts_targets_to_what_a_built_in_loss_takes) {
  random::set_seed(12);
  const Tensor x = random::normal({20, 3}), labels = random::integers({20, 1}, {.high = 2});
  Model model = Sequential(Dense(1, {.activation = sigmoid}));
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  const double loss = model.fit(x, labels, silent)["loss"][0];
  for (const Dtype dtype : {b8, i64, f32, f64}) {
    EXPECT_NEAR(model.fit(x, cast(labels, dtype), silent)["loss"][0], loss, 1e-6) << to_string(dtype);
  }
  EXPECT_EQ(model.train_step().stats().traces, 1);
}

TEST(Fit, lets_go_of_the_model_with_its_last_handle) {
  std::weak_ptr<Layer> layer;
  {
    Model model = small_model();
    model.compile({.optimizer = "sgd", .step = [](Model& own, Optimizer&, const Tensor& x, const Tensor&) { return mean(own(x)); }});
    model.fit(ones({4, 4}), ones({4, 1}), silent);
    layer = static_cast<const AnyLayer&>(model).layer();
    EXPECT_FALSE(layer.expired());
  }
  EXPECT_TRUE(layer.expired());
}

}  // namespace
}  // namespace anyshape
