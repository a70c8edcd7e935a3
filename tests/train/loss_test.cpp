// Losses and metrics beyond the golden numbers: logits, missing targets, weights, callables, and what is refused.
#include "nn/named_activation.h"
#include "nn/notes.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anyshape::test {
namespace {

const float nan = std::numeric_limits<float>::quiet_NaN();

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

float item(const Tensor& x) { return x.item<float>(); }

// Each call eagerly, and as a function with one trace.
void expect_both(const std::function<Tensor(Tensor, Tensor)>& body, const Tensor& target, const Tensor& prediction, double wanted) {
  EXPECT_NEAR(item(body(target, prediction)), wanted, 2e-5) << "eagerly";
  auto traced = function(body, {.name = "traced"});
  EXPECT_NEAR(item(traced(target, prediction)), wanted, 2e-5) << "traced";
}

TEST(Logits, of_a_sigmoid_or_softmax_keep_crossentropies_exact) {
  const auto through = [](const Loss& loss, const char* activation) {
    return [=](Tensor target, Tensor x) { return loss(target, nn::activate(activation, x)); };
  };
  expect_both(through(binary_crossentropy(), "sigmoid"), tensor({{0}}), tensor({{60.0F}}), 60);
  expect_both(through(binary_focal_crossentropy(), "sigmoid"), tensor({{0}}), tensor({{60.0F}}), 60);
  expect_both(through(categorical_crossentropy(), "softmax"), tensor({{1, 0}}), tensor({{0.0F, 60.0F}}), 60);
  expect_both(through(sparse_categorical_crossentropy(), "softmax"), tensor({0}), tensor({{0.0F, 60.0F}}), 60);
  // Softmax's logits are no sigmoid's: p = 1/2 twice, whatever the logits.
  expect_both(through(binary_crossentropy(), "softmax"), tensor({{1, 0}}), tensor({{5.0F, 5.0F}}), std::log(2));
  // Without the note, probabilities are clipped.
  expect_both([](Tensor y, Tensor x) { return binary_crossentropy()(y, sigmoid(x)); }, tensor({{0}}), tensor({{60.0F}}), 15.9424);
}

TEST(Logits, of_a_layer_reach_the_loss) {
  const Dense dense(1, {.activation = sigmoid, .kernel_initializer = "ones"});
  dense(ones({1, 1}));
  expect_both([&](Tensor y, Tensor x) { return binary_crossentropy()(y, dense(x)); }, tensor({{0}}), tensor({{60.0F}}), 60);
}

TEST(Logits, keep_mask_and_rows) {
  const Tensor x = ragged_from_rows({tensor({{60.0F}, {-1.0F}}), zeros({0, 1}), tensor({{0.5F}})});
  const Tensor target = with_rows_of(tensor({{0.0F}, {1.0F}, {1.0F}}), x);
  const Tensor wanted = binary_crossentropy({.from_logits = true})(target, x);
  EXPECT_FLOAT_EQ(item(binary_crossentropy()(target, nn::activate("sigmoid", x))), item(wanted));
  const Tensor mask = tensor(std::vector<bool>{true, true, false, false, true, false}, {3, 2});
  const Tensor padded =
      nn::with_mask(nn::activate("sigmoid", tensor(std::vector<float>{60.0F, -1.0F, 9.0F, 9.0F, 0.5F, 9.0F}, {3, 2, 1})), mask);
  EXPECT_FLOAT_EQ(item(binary_crossentropy()(tensor(std::vector<float>{0.0F, 1.0F, 0.0F, 0.0F, 1.0F, 0.0F}, {3, 2, 1}), padded)),
                  item(wanted));
}

TEST(IgnoreMissing, sums_over_present_elements_by_their_number) {
  const Tensor target = tensor(std::vector<float>{1.0F, nan, 3.0F, nan, nan, nan, 2.0F, 2.0F, 0.0F}, {3, 3});
  const Tensor prediction = tensor(std::vector<float>{1.5F, 9.0F, 3.0F, 1.0F, 1.0F, 1.0F, 2.0F, 4.0F, 0.0F}, {3, 3});
  expect_both([](Tensor y, Tensor p) { return mse({.ignore_missing = true})(y, p); }, target, prediction, 4.25 / 5);
  expect_both([](Tensor y, Tensor p) { return mse({.reduction = Reduction::Sum, .ignore_missing = true})(y, p); }, target, prediction,
              4.25);
  const Tensor each = mse({.reduction = Reduction::None, .ignore_missing = true})(target, prediction);
  EXPECT_TRUE(all_close(each, tensor({0.125F, 0.0F, 4.0F / 3})));
  const Tensor weight = tensor({2.0F, 5.0F, 1.0F});
  EXPECT_FLOAT_EQ(item(mse({.ignore_missing = true})(target, prediction, weight)), 4.5F / 5);
  // A row of classes counts as a whole or not at all.
  const Tensor rows = tensor(std::vector<float>{0.5F, 0.5F, nan, 1.0F}, {2, 2}),
               p = tensor(std::vector<float>{0.25F, 0.75F, 0.5F, 0.5F}, {2, 2});
  expect_both([](Tensor y, Tensor q) { return kl_divergence({.ignore_missing = true})(y, q); }, rows, p,
              0.5 * std::log(2.0) + 0.5 * std::log(0.5 / 0.75));
  Metric metric = mse({.ignore_missing = true});
  metric.update(target, prediction);
  EXPECT_FLOAT_EQ(item(metric.result()), 4.25F / 5);
}

TEST(IgnoreMissing, has_gradients_without_nan) {
  const Tensor target = tensor(std::vector<float>{1.0F, nan, nan, nan}, {2, 2}), prediction = tensor({{1.5F, 9.0F}, {1.0F, 1.0F}});
  for (const Loss& loss : {mse({.ignore_missing = true}), mae({.ignore_missing = true}), huber({.ignore_missing = true}),
                           log_cosh({.ignore_missing = true}), poisson({.ignore_missing = true}), kl_divergence({.ignore_missing = true}),
                           cosine_similarity({.ignore_missing = true}), categorical_crossentropy({.ignore_missing = true}),
                           binary_crossentropy({.ignore_missing = true}), binary_focal_crossentropy({.ignore_missing = true})}) {
    GradientTape tape;
    tape.watch(prediction);
    const Tensor value = loss(target, prediction);
    const Tensor gradient = tape.gradient(value, prediction);
    EXPECT_FALSE(any(is_nan(gradient)).item<bool>()) << loss.name() << to_string(gradient);
    EXPECT_FALSE(std::isnan(item(value))) << loss.name();
    EXPECT_EQ(item(sum(abs(slice(gradient, {{.begin = 1}})))), 0) << loss.name();
  }
}

TEST(Losses, of_nothing_are_zero_with_zero_gradients) {
  for (const Loss& loss : {mse(), binary_crossentropy(), categorical_crossentropy(), cosine_similarity()}) {
    const Tensor prediction = zeros({0, 3});
    GradientTape tape;
    tape.watch(prediction);
    const Tensor value = loss(zeros({0, 3}), prediction);
    EXPECT_EQ(item(value), 0) << loss.name();
    EXPECT_EQ(to_string(tape.gradient(value, prediction).shape()), "[0, 3]");
  }
  EXPECT_EQ(item(sparse_categorical_crossentropy()(zeros({0}, {.dtype = i32}), zeros({0, 3}))), 0);
}

TEST(Losses, hold_vectors_for_columns) {
  const Tensor target = tensor({1.0F, 2.0F, 3.0F}), prediction = tensor({1.0F, 1.0F, 1.0F});
  for (const Shape& y : {Shape{3}, Shape{3, 1}}) {
    for (const Shape& p : {Shape{3}, Shape{3, 1}}) {
      expect_both([](Tensor a, Tensor b) { return mse()(a, b); }, reshape(target, y), reshape(prediction, p), 5.0 / 3);
    }
  }
  EXPECT_FLOAT_EQ(item(mse()(target, prediction, tensor({0.0F, 1.0F, 0.0F}))), 1.0F / 3);
}

TEST(Losses, leave_out_positions_whose_labels_are_no_classes_where_a_mask_says_so) {
  const Tensor prediction =
      nn::with_mask(tensor(std::vector<float>{0.5F, 0.5F, 0.9F, 0.1F}, {1, 2, 2}), tensor(std::vector<bool>{true, false}, {1, 2}));
  EXPECT_FLOAT_EQ(item(sparse_categorical_crossentropy()(tensor({{1, 99}}), prediction)), std::log(2.0F));
}

TEST(Callables, give_a_value_per_row_or_a_scalar) {
  const auto squares = [](const Tensor& y, const Tensor& p) { return sum(square(p - cast(y, f32)), {.axes = {-1}}); };
  const Tensor target = tensor({{1, 2}, {3, 4}}), prediction = tensor({{1.0F, 1.0F}, {1.0F, 1.0F}}), weight = tensor({1.0F, 0.0F});
  EXPECT_FLOAT_EQ(item(Loss(squares)(target, prediction)), 7);
  EXPECT_FLOAT_EQ(item(Loss(squares)(target, prediction, weight)), 0.5F);
  const Loss scalar = [](const Tensor& y, const Tensor& p) { return mean(square(p - cast(y, f32))); };
  EXPECT_FLOAT_EQ(item(scalar(target, prediction)), 3.5F);
  EXPECT_TRUE(contains(text_of<ShapeError>([&] { scalar(target, prediction, weight); }),
                       "loss: weights (a) of rows for a loss (b) that is one number"));
  Metric metric = mean_metric(squares, "squares");
  metric.update(target, prediction);
  metric.update(target, prediction, weight);
  EXPECT_FLOAT_EQ(item(metric.result()), 15.0F / 3);
  EXPECT_EQ(metric.name(), "squares");
  EXPECT_FLOAT_EQ(item(Metric(squares).result()), 0);
}

TEST(Callables, may_branch_inside_a_trace) {
  const Loss loss = [](const Tensor& y, const Tensor& p) {
    const Tensor error = mean(abs(p - y));
    if (error > 1.0F) return 10 * error;
    return error;
  };
  Metric metric = loss;
  auto step = function(
      [&](Tensor y, Tensor p) {
        metric.update(y, p);
        return loss(y, p);
      },
      {.name = "step"});
  EXPECT_FLOAT_EQ(item(step(zeros({2}), full({2}, 0.5F))), 0.5F);
  EXPECT_FLOAT_EQ(item(step(zeros({3}), full({3}, 2.0F))), 20);
  EXPECT_FLOAT_EQ(item(metric.result()), 10.25F);
  EXPECT_EQ(step.stats().traces, 1);
}

TEST(Metrics, are_losses_too_and_clone_with_sums_of_their_own) {
  Metric metric = huber({.delta = 2});
  EXPECT_EQ(metric.name(), "huber");
  metric.update(zeros({1, 1}), ones({1, 1}));
  const Metric copy = metric.clone();
  EXPECT_FLOAT_EQ(item(metric.result()), 0.5F);
  EXPECT_EQ(item(copy.result()), 0);
  EXPECT_EQ(Metric("mae").name(), "mae");
  EXPECT_EQ(Metric("mae").clone().name(), "mae");
  EXPECT_EQ(Metric("log_cosh").name(), "log_cosh");  // every loss by its name
}

TEST(Metrics, count_exactly_beyond_what_floats_hold) {
  Metric metric = binary_accuracy();
  for (const Variable& sum : metric.variables()) sum.assign(cast(full({}, 20'000'000.0), f64));
  metric.update(ones({1}), zeros({1}));
  EXPECT_EQ(metric.variables()[1].read().item<double>(), 20'000'001);
}

TEST(Metrics, accuracy_is_chosen_by_shapes_in_a_trace_too) {
  for (const bool is_column : {true, false}) {
    Metric metric = accuracy();
    auto update = function([&](Tensor y, Tensor p) { metric.update(y, p); }, {.name = "update"});
    if (is_column) {
      update(tensor({1, 0, 1}), tensor({{0.9F}, {0.2F}, {0.3F}}));
    } else {
      update(tensor({1, 0, 1}), tensor({{0.1F, 0.9F}, {0.8F, 0.2F}, {0.7F, 0.3F}}));
    }
    EXPECT_FLOAT_EQ(item(metric.result()), 2.0F / 3);
  }
}

TEST(Refusals, name_the_loss_and_both_shapes) {
  const auto text = [](const Loss& loss, const Tensor& y, const Tensor& p) { return text_of<ShapeError>([&] { loss(y, p); }); };
  EXPECT_EQ(
      text(mse(), zeros({8, 3}), zeros({8, 4})),
      "mean_squared_error: axis 1 of prediction and target has the sizes 4 and 3: a is f32[8, 3], b is f32[8, 4]; expected one size. In "
      "loss \"mean_squared_error\".");
  EXPECT_TRUE(contains(text(mae(), zeros({8}), zeros({8, 4})),
                       "mean_absolute_error: the target (a) has one value where the prediction (b) has several"));
  EXPECT_TRUE(
      contains(text(mae(), zeros({7}), zeros({8, 1})), "mean_absolute_error: axis 0 of prediction and target has the sizes 8 and 7"));
  EXPECT_TRUE(
      contains(text(huber(), zeros({8, 3}), zeros({8, 3, 2, 1})),
               "huber: target (a) and prediction (b) differ in rank: a is f32[8, 3], b is f32[8, 3, 2, 1]; expected a target of the "
               "prediction's shape."));
  EXPECT_TRUE(contains(
      text(sparse_categorical_crossentropy(), zeros({8, 3}), zeros({8, 3})),
      "sparse_categorical_crossentropy: the target (a) is one-hot, with a column per class: a is f32[8, 3], b is f32[8, 3]; expected class "
      "numbers"));
  EXPECT_TRUE(contains(text(sparse_categorical_crossentropy(), zeros({8, 3, 3, 3}), zeros({8, 3})),
                       "expected class numbers: a target of the prediction's shape without the axis of classes, or with a 1 there."));
  const Tensor rows = ragged({{1.0F, 2.0F}, {3.0F}});
  EXPECT_TRUE(contains(text(mse(), zeros({2, 2}), rows), "mean_squared_error: the prediction (b) is ragged, the target (a) is not"));
  EXPECT_TRUE(contains(text(mse(), rows, zeros({2, 2})), "mean_squared_error: the target (a) is ragged, the prediction (b) is not"));
  EXPECT_TRUE(contains(text(mse(), ragged({{1.0F}, {3.0F, 2.0F}}), rows), "mean_squared_error: rows differ in length"));
  EXPECT_TRUE(contains(text(kl_divergence(), rows, rows), "kl_divergence: axis 1 of the prediction (b) is ragged"));
  const Tensor hidden = nn::with_mask(zeros({2, 3, 4}), tensor({{true, true, false}, {true, false, false}}));
  EXPECT_TRUE(contains(text(cosine_similarity({.axis = 1}), zeros({2, 3, 4}), hidden),
                       "cosine_similarity: axis 1 of the prediction (b) is masked"));
  EXPECT_TRUE(contains(text_of<ShapeError>([] { mse()(zeros({4, 2}), zeros({4, 2}), zeros({3})); }),
                       "mean_squared_error: axis 0 of values and weights has the sizes 4 and 3"));
  EXPECT_TRUE(contains(text_of<ShapeError>([] { accuracy().update(zeros({5, 2}), zeros({4, 2})); }), "In metric \"accuracy\"."));
}

TEST(Refusals, come_from_a_trace_with_its_sizes) {
  auto traced = function([](Tensor y, Tensor p) { return mse()(y, p); }, {.name = "traced"});
  traced(zeros({4, 2}), zeros({4, 2}));
  const std::string text = text_of<ShapeError>([&] { traced(zeros({4, 2}), zeros({4, 3})); });
  EXPECT_TRUE(contains(text, "mean_squared_error: axis 1 of prediction and target")) << text;
  EXPECT_TRUE(contains(text, "traced")) << text;
}

TEST(Refusals, of_names_say_the_near_ones) {
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { Loss("binary_crossentrpy"); }),
                       "loss: \"binary_crossentrpy\" is no loss; expected one of \"binary_crossentropy\""));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { Metric("acuracy"); }), "metric: \"acuracy\" is no metric; expected \"accuracy\""));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { Loss()(zeros({1}), zeros({1})); }), "loss: the handle is empty"));
  for (Metric metric : {accuracy(), precision(), f1_score(), Metric(mse())}) {
    EXPECT_TRUE(contains(text_of<ArgumentError>([&] { metric.update(zeros({1}), Tensor()); }), metric.name() + ": argument 1 is an empty"));
    EXPECT_TRUE(contains(text_of<ArgumentError>([&] { metric.update(Tensor(), zeros({1})); }), metric.name() + ": argument 0 is an empty"));
  }
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { static_cast<void>(Metric().result()); }), "metric: the handle is empty"));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { precision({.thresholds = {1.5}}); }), "precision: a threshold is 1.5"));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { auc({.thresholds = 1}); }), "auc: 1 thresholds"));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { top_k_categorical_accuracy({.k = 0}); }), "top_k_categorical_accuracy: k is 0"));
  EXPECT_TRUE(contains(text_of<ArgumentError>([] { f1_score({.threshold = 2}); }), "f1_score: the threshold is 2"));
}

// A step that fails leaves weights, slots and sums as they were.
TEST(Refusals, of_labels_leave_everything_untouched) {
  const Variable weight(full({3, 4}, 0.5F), {.name = "weight"});
  Optimizer optimizer = sgd({.momentum = 0.9});
  Metric metric = sparse_categorical_accuracy();
  const auto step = [&](Tensor x, Tensor labels) {
    GradientTape tape;
    const Tensor scores = matmul(x, weight);
    const Tensor loss = sparse_categorical_crossentropy({.from_logits = true})(labels, scores);
    metric.update(labels, scores);
    optimizer.apply({tape.gradient(loss, weight)}, {weight});
    return loss;
  };
  auto traced = function(step, {.name = "step"});
  traced(ones({2, 3}), tensor({0, 3}));
  const Tensor before = weight.read(), sums = metric.variables()[1].read();
  for (const int bad : {4, -1, 99}) {
    for (const bool is_traced : {true, false}) {
      const std::string text = text_of<DataError>([&] {
        if (is_traced) {
          traced(ones({3, 3}), tensor({0, bad, 1}));
        } else {
          step(ones({3, 3}), tensor({0, bad, 1}));
        }
      });
      EXPECT_TRUE(contains(text, std::to_string(bad) + " at position 1")) << text;
      EXPECT_TRUE(contains(text, is_traced ? "0 <= index < 4" : "0 <= label < 4")) << text;
      EXPECT_TRUE(contains(text, "In loss \"sparse_categorical_crossentropy\".")) << text;
      EXPECT_TRUE(all_equal(weight.read(), before));
      EXPECT_TRUE(all_equal(metric.variables()[1].read(), sums));
      EXPECT_EQ(optimizer.iterations().read().item<int64_t>(), 1);
    }
  }
}

TEST(Losses, a_label_needs_no_row_of_logarithms_in_memory) {
  const auto of = [](const Tensor& scores, const Tensor& labels) {
    return sparse_categorical_crossentropy({.from_logits = true})(labels, scores);
  };
  auto traced = function(of, {.name = "loss", .signature = {spec(f32, {dim("rows"), dim("classes")}), spec(i32, {dim("rows")})}});
  traced(zeros({2, 3}), tensor({0, 2}));
  EXPECT_LT(traced.peak_bytes({{"rows", 1000}, {"classes", 1000}}), 20'000);  // a few numbers for each row
}

}  // namespace
}  // namespace anyshape::test
