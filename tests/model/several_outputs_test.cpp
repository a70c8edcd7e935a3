// Models with several outputs: losses, metrics and weights by name, what is reported of each, predictions of all.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

using test::text_of;
using Names = std::vector<std::string>;

const EvaluateOptions quietly{.batch_size = 4, .verbose = Verbose::Silent};
FitOptions in_order(int64_t batch_size = 4) {
  return {.batch_size = batch_size, .epochs = 3, .verbose = Verbose::Silent, .shuffle = false};
}

// A price and one of three kinds from two numbers; nothing is shared between them, so that each can be trained alone, too.
struct House {
  Tensor rows = input({2}, {.name = "rows"});
  Dense price{1, {.name = "dense_price"}};
  Dense kind{3, {.activation = "softmax", .name = "dense_kind"}};
  Model both{{.inputs = {rows}, .outputs = {{"price", price(rows)}, {"kind", kind(rows)}}}};
  Model of_price = Sequential(Dense(1)), of_kind = Sequential(Dense(3, {.activation = "softmax"}));
  Tensor x = random::normal({10, 2}), y_price = random::normal({10, 1}), y_kind = random::integers({10}, {.high = 3});
  Data targets = {{"kind", y_kind}, {"price", y_price}};

  House() {
    of_price.build({dynamic, 2});
    of_kind.build({dynamic, 2});
    of_price.set_weights(price.weights());
    of_kind.set_weights(kind.weights());
    of_price.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "mse"});
    of_kind.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "sparse_categorical_crossentropy", .metrics = {"accuracy"}});
  }
  CompileOptions options() const {
    return {.optimizer = sgd({.learning_rate = 0.1}),
            .metrics = {{"kind", "accuracy"}},
            .losses = {{"kind", "sparse_categorical_crossentropy"}, {"price", "mse"}}};
  }
  void expect_equal_weights() const {
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(all_close(price.weights()[i], of_price.weights()[i], {.absolute = 1e-6})) << i;
      EXPECT_TRUE(all_close(kind.weights()[i], of_kind.weights()[i], {.absolute = 1e-6})) << i;
    }
  }
};

TEST(SeveralOutputs, train_as_models_of_one_each) {
  random::set_seed(1);
  House house;
  house.both.compile(house.options());
  const History both = house.both.fit(house.x, house.targets, in_order());
  const History price = house.of_price.fit(house.x, house.y_price, in_order());
  const History kind = house.of_kind.fit(house.x, house.y_kind, in_order());
  house.expect_equal_weights();
  EXPECT_EQ(both.names(), (Names{"loss", "price_loss", "kind_loss", "kind_accuracy"}));
  for (size_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_NEAR(both["price_loss"][epoch], price["loss"][epoch], 1e-6);
    EXPECT_NEAR(both["kind_loss"][epoch], kind["loss"][epoch], 1e-6);
    EXPECT_NEAR(both["loss"][epoch], price["loss"][epoch] + kind["loss"][epoch], 1e-6);
    EXPECT_EQ(both["kind_accuracy"][epoch], kind["accuracy"][epoch]);
  }
  EXPECT_EQ(house.both.train_step().stats().traces, 1);
}

TEST(SeveralOutputs, losses_are_reported_without_their_weights_and_added_with_them) {
  random::set_seed(2);
  House house;
  CompileOptions options = house.options();
  options.loss_weights = {{"price", 0.25}};
  house.both.compile(options);
  const Scores scores = house.both.evaluate(house.x, house.targets, quietly);
  const double price = house.of_price.evaluate(house.x, house.y_price, quietly)["loss"];
  const double kind = house.of_kind.evaluate(house.x, house.y_kind, quietly)["loss"];
  EXPECT_NEAR(scores["price_loss"], price, 1e-6);
  EXPECT_NEAR(scores["kind_loss"], kind, 1e-6);
  EXPECT_NEAR(scores["loss"], 0.25 * price + kind, 1e-6);
  const Scores one = house.both.train_on_batch(house.x, house.targets);
  EXPECT_NEAR(one["price_loss"], price, 1e-6);
  EXPECT_NEAR(one["loss"], 0.25 * price + kind, 1e-6);
}

TEST(SeveralOutputs, weights_of_samples_are_the_named_outputs) {
  random::set_seed(3);
  const Tensor weight = random::uniform({10}, {.low = 0, .high = 3});
  for (const bool is_dataset : {false, true}) {
    House house;
    CompileOptions options = house.options();
    options.weighted_metrics = {{"kind", "accuracy"}, {"price", "mae"}};
    house.both.compile(options);
    house.of_price.compile({.optimizer = sgd({.learning_rate = 0.1}), .loss = "mse", .weighted_metrics = {"mae"}});
    FitOptions fit = in_order();
    if (!is_dataset) fit.sample_weight = {{"price", weight}};
    const History both = is_dataset ? house.both.fit(Dataset::from(house.x, house.targets, {{"price", weight}}).batch(4), fit)
                                    : house.both.fit(house.x, house.targets, fit);
    FitOptions alone = in_order();
    alone.sample_weight = weight;
    const History price = house.of_price.fit(house.x, house.y_price, alone);
    const History kind = house.of_kind.fit(house.x, house.y_kind, in_order());
    house.expect_equal_weights();
    for (size_t epoch = 0; epoch < 3; ++epoch) {
      EXPECT_NEAR(both["price_loss"][epoch], price["loss"][epoch], 1e-6);
      EXPECT_NEAR(both["kind_loss"][epoch], kind["loss"][epoch], 1e-6);
      EXPECT_NEAR(both["price_mae"][epoch], price["mae"][epoch], 1e-6);
      EXPECT_NEAR(both["kind_weighted_accuracy"][epoch], kind["accuracy"][epoch], 1e-6);
    }
    EXPECT_EQ(house.both.train_step().stats().traces, 1);
    const Scores scores = house.both.evaluate(house.x, house.targets, {.verbose = Verbose::Silent, .sample_weight = {{"price", weight}}});
    const double want = house.of_price.evaluate(house.x, house.y_price, {.verbose = Verbose::Silent, .sample_weight = weight})["loss"];
    EXPECT_NEAR(scores["price_loss"], want, 1e-6);
  }
}

TEST(SeveralOutputs, one_tensor_of_weights_holds_for_all) {
  random::set_seed(4);
  House house;
  house.both.compile(house.options());
  const Tensor weight = random::uniform({10}, {.low = 0, .high = 3});
  const EvaluateOptions all{.verbose = Verbose::Silent, .sample_weight = weight};
  const EvaluateOptions each{.verbose = Verbose::Silent, .sample_weight = {{"kind", weight}, {"price", weight}}};
  EXPECT_EQ(house.both.evaluate(house.x, house.targets, all).all(), house.both.evaluate(house.x, house.targets, each).all());
}

TEST(SeveralOutputs, names_that_are_not_there_are_told_with_the_near_ones) {
  House house;
  auto error = [&](const CompileOptions& options) { return text_of<ArgumentError>([&] { house.both.compile(options); }); };
  EXPECT_EQ(error({.losses = {{"prise", "mse"}, {"kind", "mse"}}}), "compile: .losses: \"prise\" is no output; expected \"price\".");
  EXPECT_EQ(error({.loss = "mse", .loss_weights = {{"knid", 2}}}), "compile: .loss_weights: \"knid\" is no output; expected \"kind\".");
  EXPECT_EQ(error({.loss = "mse", .metrics = {{"prices", "mae"}}}), "compile: .metrics: \"prices\" is no output; expected \"price\".");
  EXPECT_EQ(error({.losses = {{"price", "mse"}, "mae"}}),
            "compile: .losses has values with names and without; expected names for all or for none.");
  EXPECT_EQ(error({.losses = {{"price", "mse"}, {"price", "mae"}}}),
            "compile: .losses names the output \"price\" twice; expected each once.");
  EXPECT_EQ(error({.losses = {{"price", "mse"}}}),
            "compile: no loss is given for the output \"kind\"; expected one per output. Name it in .losses, or give .loss for the others. "
            "{\"kind\", "
            "{}} in .losses says that it is predicted and not trained.");
  EXPECT_EQ(error({.losses = {{"price", {}}, {"kind", {}}}}), "compile: no loss is given; expected .loss, .losses or a .step of your own.");
  EXPECT_EQ(error({.metrics = {{"kind", "accuracy"}}, .losses = {{"price", "mse"}, {"kind", {}}}}),
            "compile: .metrics names the output \"kind\", which has no loss and so no target; expected one with a loss.");
  house.both.compile({.loss = "mse", .losses = {{"kind", "sparse_categorical_crossentropy"}}});
  const Tensor weight = ones({10});
  EXPECT_EQ(text_of<ArgumentError>(
                [&] { house.both.fit(house.x, house.targets, {.verbose = Verbose::Silent, .sample_weight = {{"prize", weight}}}); }),
            "fit: sample_weight: \"prize\" is no output; expected \"price\".");
  EXPECT_EQ(
      text_of<ArgumentError>([&] { house.both.fit(house.x, house.targets, {.verbose = Verbose::Silent, .class_weight = {{0, 2.0}}}); }),
      "fit: class_weight with 2 targets; expected one. Give sample_weight by the outputs' names.");
  EXPECT_EQ(text_of<DataError>([&] {
              house.both.fit(house.x, {{"price", house.y_price * (0.0F / 0.0F)}, {"kind", house.y_kind}}, {.verbose = Verbose::Silent});
            }).substr(0, 58),
            "fit: the targets \"price\" hold missing values from row 0 on");
}

TEST(SeveralOutputs, are_watched_and_validated_by_name) {
  random::set_seed(5);
  House house;
  house.both.compile(house.options());
  FitOptions options = in_order();
  options.epochs = 20;
  options.validation_data = {.x = house.x, .y = house.targets, .sample_weight = {{"kind", zeros({10})}}};
  options.callbacks = {EarlyStopping({.monitor = "val_kind_loss", .patience = 2})};
  const History history = house.both.fit(house.x, house.targets, options);
  EXPECT_EQ(history.epochs(), 3);  // without weight it is 0 from the beginning
  EXPECT_EQ(history["val_kind_loss"], (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(history.contains("val_price_loss"));
  options.callbacks = {EarlyStopping({.monitor = "price_los"})};
  EXPECT_NE(text_of<ArgumentError>([&] { house.both.fit(house.x, house.targets, options); }).find("price_loss"), std::string::npos);
}

// Ragged positions and rows weigh differently: neither output's mean may depend on how the rows are cut.
TEST(SeveralOutputs, means_do_not_depend_on_the_batches) {
  random::set_seed(6);
  const Tensor in = input({dynamic, 2}, {.name = "in", .ragged = true});
  const Tensor steps = Dense(1)(in);
  Model model({.inputs = {in}, .outputs = {{"steps", steps}, {"whole", GlobalAveragePooling1D()(steps)}}});
  model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse", .loss_weights = {{"steps", 2}}});
  std::vector<Tensor> rows, labels;
  for (int64_t length : {1, 5, 2, 7, 3, 1}) {
    rows.push_back(random::normal({length, 2}));
    labels.push_back(random::normal({length, 1}));
  }
  const Data y = {{"steps", ragged_from_rows(labels)}, {"whole", random::normal({6, 1})}};
  const Scores whole = model.evaluate(rows, y, {.batch_size = 6, .verbose = Verbose::Silent});
  for (const int64_t size : {1, 2, 4}) {
    const Scores cut = model.evaluate(rows, y, {.batch_size = size, .verbose = Verbose::Silent});
    for (const char* name : {"loss", "steps_loss", "whole_loss"}) EXPECT_NEAR(cut[name], whole[name], 1e-6) << name << " " << size;
    const History history = model.fit(rows, y, {.batch_size = size, .verbose = Verbose::Silent});
    for (const char* name : {"loss", "steps_loss", "whole_loss"}) EXPECT_NEAR(history[name][0], whole[name], 1e-6) << name << " " << size;
  }
  EXPECT_NEAR(whole["loss"], 2 * whole["steps_loss"] + whole["whole_loss"], 1e-6);
  EXPECT_EQ(model.train_step().stats().traces, 1);
}

TEST(SeveralOutputs, are_predicted_by_name_ragged_ones_too) {
  const Tensor in = input({dynamic}, {.name = "in", .dtype = Dtype::i32, .ragged = true});
  const Tensor steps = Embedding(9, 2)(in);
  const Model model({.inputs = {in}, .outputs = {{"steps", steps}, {"mean", GlobalAveragePooling1D()(steps)}}});
  const Tensor words = ragged({{1, 2, 3}, {4}, {5, 6}});
  const Outputs found = model.predict_outputs(words, {.batch_size = 2});
  EXPECT_EQ(found.names(), (Names{"steps", "mean"}));
  EXPECT_TRUE(all_equal(found["steps"], model.outputs(words)["steps"]));
  EXPECT_TRUE(all_equal(found["mean"], model.outputs(words)["mean"]));
  EXPECT_TRUE(all_equal(model.predict_outputs(Dataset::from(words).batch(2))["steps"], found["steps"]));
  EXPECT_EQ(text_of<ArgumentError>([&] { model.predict(words); }),
            "predict: the model has 2 outputs: steps, mean; expected one. Call predict_outputs() for all of them.");
}

// Your own model, which names its outputs.
struct Own : Layer {
  Dense price = child(Dense(1)), kind = child(Dense(3, {.activation = "softmax"}));
  bool is_named = true;
  std::vector<Tensor> call_all(std::span<const Tensor> inputs, const CallContext&) override { return {price(inputs[0]), kind(inputs[0])}; }
  Names output_names() const override { return is_named ? Names{"price", "kind"} : Names{}; }
};

TEST(SeveralOutputs, without_a_loss_are_predicted_and_need_no_target) {
  random::set_seed(9);
  House house;
  const Tensor weight = random::uniform({10}, {.low = 0, .high = 3});
  house.both.compile({.optimizer = sgd({.learning_rate = 0.1}),
                      .loss = "sparse_categorical_crossentropy",
                      .metrics = {"accuracy"},
                      .losses = {{"price", {}}},
                      .weighted_metrics = {"accuracy"}});
  house.of_kind.compile({.optimizer = sgd({.learning_rate = 0.1}),
                         .loss = "sparse_categorical_crossentropy",
                         .metrics = {"accuracy"},
                         .weighted_metrics = {"accuracy"}});
  const std::vector<Tensor> price = house.price.weights();
  FitOptions options = in_order();
  options.validation_split = 0.2;
  options.sample_weight = weight;
  const History alone = house.of_kind.fit(house.x, house.y_kind, options);
  options.sample_weight = {{"kind", weight}};
  const History both = house.both.fit(house.x, {{"kind", house.y_kind}}, options);
  EXPECT_EQ(both.names(), alone.names());
  for (const std::string& name : alone.names()) EXPECT_EQ(both[name], alone[name]) << name;
  EXPECT_TRUE(all_equal(house.kind.weights()[0], house.of_kind.weights()[0]));
  EXPECT_TRUE(all_equal(house.price.weights()[0], price[0]));
  EXPECT_EQ(house.both.predict_outputs(house.x).names(), (Names{"price", "kind"}));
  EXPECT_EQ(house.both.evaluate(house.x, house.y_kind, quietly).all(), house.of_kind.evaluate(house.x, house.y_kind, quietly).all());
  const auto dataset = Dataset::from(house.x, {{"kind", house.y_kind}}).batch(4);
  EXPECT_EQ(house.both.evaluate(dataset, quietly).all(), house.of_kind.evaluate(house.x, house.y_kind, quietly).all());
  EXPECT_EQ(text_of<DataError>([&] { house.both.fit(house.x, house.y_kind * 0 + 3, in_order()); }).substr(0, 39),
            "fit: the label in row 0 is 3; expected ");
  EXPECT_EQ(text_of<ArgumentError>([&] { house.both.fit(house.x, house.targets, in_order()); }),
            "fit: \"price\" is no target; expected \"kind\".");
  EXPECT_EQ(text_of<ArgumentError>([&] { house.both.fit(house.x, inputs({house.y_price, house.y_kind}), in_order()); }),
            "fit: 2 targets are given; expected 1: kind.");
  EXPECT_EQ(text_of<ArgumentError>([&] { house.both.fit(house.x, {{"price", house.y_price}}, in_order()); }),
            "fit: \"price\" is no target; expected \"kind\".");
}

TEST(SeveralOutputs, of_a_model_of_ones_own) {
  random::set_seed(7);
  House house;
  Model own{Own()};
  own.build({dynamic, 2});
  own.set_weights(house.both.weights());
  own.compile(house.options());
  house.both.compile(house.options());
  const History mine = own.fit(house.x, house.targets, in_order()), theirs = house.both.fit(house.x, house.targets, in_order());
  for (const std::string& name : theirs.names()) EXPECT_EQ(mine[name], theirs[name]) << name;
  EXPECT_TRUE(all_equal(own.predict_outputs(house.x)["kind"], house.both.predict_outputs(house.x)["kind"]));
  Own nameless;
  nameless.is_named = false;
  Model silent{nameless};
  silent.compile({.loss = "mse"});
  const std::string text = text_of<ArgumentError>([&] { silent.fit(house.x, inputs({house.y_price, house.y_kind}), in_order()); });
  EXPECT_NE(text.find("model: it gives 2 outputs and names 0; expected output_names() with a name for each."), std::string::npos) << text;
  EXPECT_NE(text_of<ArgumentError>([&] { silent.compile({.losses = {{"price", "mse"}}}); }).find("the model has no names for its outputs"),
            std::string::npos);
}

class BatchStep : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Modes, BatchStep, testing::Bool(), [](const auto& info) { return info.param ? "eager" : "compiled"; });

TEST_P(BatchStep, gets_the_whole_batch_and_gives_metrics) {
  random::set_seed(8);
  House house;
  const Tensor weight = random::uniform({10}, {.low = 0, .high = 3});
  house.both.compile({.optimizer = sgd({.learning_rate = 0.1}),
                      .step = [](Model& model, Optimizer& optimizer, const Batch& batch) -> StepResult {
                        GradientTape tape;
                        const Outputs found = model.outputs(batch.x, {.training = true});
                        const Tensor price = mse()(batch.y[0], found["price"], batch.sample_weight[0]);
                        const Tensor kind = sparse_categorical_crossentropy()(batch.y[1], found["kind"], batch.sample_weight[1]);
                        const Tensor loss = price + kind;
                        optimizer.apply(tape.gradient(loss, model.trainable_variables()), model.trainable_variables());
                        return {loss, {{"price", price}, {"rows", cast(size(batch.x[0], 0), Dtype::f32)}}};
                      },
                      .run_eagerly = GetParam()});
  FitOptions options = in_order();
  options.sample_weight = {{"price", weight}};
  std::vector<double> seen;
  options.callbacks = {LambdaCallback({.on_epoch_end = [&](Model&, int64_t, const Scores& scores) { seen.push_back(scores["price"]); }}),
                       EarlyStopping({.monitor = "price", .patience = 10, .mode = Monitor::Min})};
  const History own = house.both.fit(house.x, house.targets, options);
  EXPECT_EQ(own.names(), (Names{"loss", "price", "rows"}));
  EXPECT_EQ(own["price"], seen);
  EXPECT_NEAR(own["rows"][0], (4 * 4 + 4 * 4 + 2 * 2) / 10.0, 1e-9);  // by rows
  options.callbacks = {};
  options.sample_weight = weight;
  const History price = house.of_price.fit(house.x, house.y_price, options);
  for (size_t epoch = 0; epoch < 3; ++epoch) EXPECT_NEAR(own["price"][epoch], price["loss"][epoch], 1e-6);
  if (!GetParam()) EXPECT_EQ(house.both.train_step().stats().traces, 1);
  EXPECT_NEAR(house.both.train_on_batch(house.x, house.targets, {{"price", ones({10})}})["rows"], 10, 1e-9);
}

TEST_P(BatchStep, gets_as_many_targets_as_are_given) {
  House house;
  Names seen;
  house.both.compile({.step =
                          [&](Model& model, Optimizer&, const Batch& batch) {
                            std::string shapes;
                            for (const Tensor& target : batch.y) shapes += std::to_string(target.rank());
                            for (const Tensor& weight : batch.sample_weight) shapes += " of " + std::to_string(weight.rank());
                            seen.push_back(shapes);
                            return mean(model.outputs(batch.x)["price"]);
                          },
                      .run_eagerly = GetParam()});
  const auto fitted = [&](const Data& y, const Data& weight = {}) {
    seen.clear();
    FitOptions options = in_order(10);
    options.sample_weight = weight;
    house.both.fit(house.x, y, options);
    return seen.back();
  };
  const Tensor other = ones({10, 5, 7});
  EXPECT_EQ(fitted({}), "");
  EXPECT_EQ(fitted(other), "3");
  EXPECT_EQ(fitted(inputs({other, house.y_price, house.y_kind})), "321");
  EXPECT_EQ(fitted({{"kind", house.y_kind}}, {{"kind", ones({10})}}), "1 of 1");
  EXPECT_EQ(fitted(house.targets), "21");
  house.both.fit(Dataset::from(house.x).batch(5), {.verbose = Verbose::Silent});
  house.both.train_on_batch(house.x, {});
  EXPECT_EQ(text_of<ArgumentError>([&] { fitted({{"prise", other}}); }), "fit: \"prise\" is no target; expected \"price\".");
}

TEST(StepErrors, metrics_that_cannot_be_reported_are_refused) {
  const auto error = [](std::vector<std::pair<std::string, Tensor>> metrics) {
    Model model = Sequential(Dense(1));
    model.compile(
        {.optimizer = "sgd", .step = [&](Model& own, Optimizer&, const Batch& batch) { return StepResult(mean(own(batch.x)), metrics); }});
    return text_of<ArgumentError>([&] { model.fit(ones({2, 2}), ones({2, 1}), {.verbose = Verbose::Silent}); });
  };
  EXPECT_EQ(error({{"many", ones({3})}}), "fit: the step gives the metric \"many\" as f32[3]; expected one number. Take its mean.");
  EXPECT_EQ(error({{"a", ones({})}, {"a", ones({})}}),
            "fit: the step gives a metric called \"a\"; expected a name that no other value has.");
  EXPECT_EQ(error({{"loss", ones({})}}), "fit: the step gives a metric called \"loss\"; expected a name that no other value has.");
  EXPECT_EQ(error({{"none", Tensor()}}),
            "fit: the step gives the metric \"none\" as an empty tensor handle; expected one number. Take its mean.");
}

TEST(StepErrors, on_x_and_y_says_what_it_cannot_take) {
  Model model = Sequential(Dense(1));
  model.compile({.optimizer = "sgd", .step = [](Model& own, Optimizer&, const Tensor& x, const Tensor&) { return mean(own(x)); }});
  EXPECT_EQ(
      text_of<ArgumentError>([&] { model.fit(ones({2, 2}), ones({2, 1}), {.verbose = Verbose::Silent, .sample_weight = ones({2})}); }),
      "fit: a .step on (x, y) takes one input and one target; got 1 and 1, and weights; expected a step on the batch: (Model&, "
      "Optimizer&, const Batch&).");
}

}  // namespace
}  // namespace anyshape
