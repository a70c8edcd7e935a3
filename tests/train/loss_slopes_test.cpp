// The gradient of every loss where formulas break: logits and errors of exactly 0, margins exactly met, clip borders, certain probabilities,
// labels 0, 1, in between and outside, far tails. Against the closed form, eagerly and traced, and against the slopes on both sides. Where a
// loss has a real kink the slope is Keras's: 0 for an error of 0, the inner one at a clip border or margin that is just met.
#include "autodiff/one_sided.h"
#include "nn/named_activation.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace anyshape::test {
namespace {

using Numbers = std::vector<double>;
using Slope = std::function<double(double y, double p)>;
constexpr double least = 1e-7;  // Keras's epsilon

const Numbers labels = {0, 1, 0.5, -1, 0.3, 2}, errors = {0, -0.0, 1, -1, 0.5, -0.5, 2, -3, 1e-12, 40, -40, 1e6, -1e6};
const Numbers logits = {0, -0.0, 1e-300, -1e-300, 1e-9, 1, -1, 5, -5, 40, -40, 700, -700, 1e6, -1e6};
const Numbers probabilities = {0, 1, least, 1 - least, 0.5, 0.3, 1e-8, -0.5, 1.5};

struct Case {
  std::string name;
  Loss loss;
  Numbers targets, predictions;
  Slope slope;

  friend void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
bool is_within(double p, double low, double high) { return p >= low && p <= high; }

// sigmoid(x) - y, exact in the tails.
double logit_slope(double y, double x) { return (1 - y) * sigmoid_of(x) - y * sigmoid_of(-x); }
double probability_slope(double y, double p) { return is_within(p, least, 1 - least) ? (p - y) / (p * (1 - p)) : 0; }
Slope smoothed(const Slope& slope, double smoothing) {
  return [=](double y, double p) { return slope(y * (1 - smoothing) + smoothing / 2, p); };
}

// d/dx of (1 - r)^gamma * (softplus(x) - x y), with r = y s + (1 - y)(1 - s) and s = sigmoid(x).
Slope focal_slope(double gamma) {
  return [=](double y, double x) {
    const double s = sigmoid_of(x), wrong = y * sigmoid_of(-x) + (1 - y) * s, turn = (1 - 2 * y) * s * sigmoid_of(-x);
    const double loss = y > 0.5 ? std::log1p(std::exp(-std::abs(x))) + std::max(-x, 0.0) + x * (1 - y)
                                : std::log1p(std::exp(-std::abs(x))) + std::max(x, 0.0) - x * y;
    const double focus = std::pow(wrong, gamma), bend = wrong > 0 ? gamma * std::pow(wrong, gamma - 1) * turn : 0;
    return bend * loss + focus * logit_slope(y, x);
  };
}

std::vector<Case> cases() {
  constexpr auto sum = Reduction::Sum;
  const Slope huber_slope = [](double y, double p) { return std::clamp(p - y, -1.0, 1.0); };
  const Numbers hard = {0, 1}, kept = {0, 1, 0.3};
  const auto sided = [](double y) { return y == 0 ? -1 : y; };
  return {
      {"binary, logits", binary_crossentropy({.from_logits = true, .reduction = sum}), labels, logits, logit_slope},
      {"binary, smoothed logits", binary_crossentropy({.from_logits = true, .label_smoothing = 0.2, .reduction = sum}), labels, logits,
       smoothed(logit_slope, 0.2)},
      {"binary, missing targets", binary_crossentropy({.from_logits = true, .reduction = sum, .ignore_missing = true}), labels, logits,
       logit_slope},
      {"binary, probabilities", binary_crossentropy({.reduction = sum}), labels, probabilities, probability_slope},
      {"focal, logits", binary_focal_crossentropy({.from_logits = true, .reduction = sum}), kept, logits, focal_slope(2)},
      {"focal, a broken power", binary_focal_crossentropy({.gamma = 0.5, .from_logits = true, .reduction = sum}), hard, logits,
       focal_slope(0.5)},
      {"focal, gamma 0", binary_focal_crossentropy({.gamma = 0, .from_logits = true, .reduction = sum}), kept, logits, logit_slope},
      {"squared", mean_squared_error({.reduction = sum}), {0}, errors, [](double y, double p) { return 2 * (p - y); }},
      {"absolute", mean_absolute_error({.reduction = sum}), {0, 1}, errors, [](double y, double p) { return sign_of(p - y); }},
      {"percentage",
       mean_absolute_percentage_error({.reduction = sum}),
       {0, 1, -1, 0.5},
       errors,
       [](double y, double p) { return 100 * sign_of(p - y) / std::max(std::abs(y), least); }},
      {"logarithmic",
       mean_squared_logarithmic_error({.reduction = sum}),
       {0, 1, -1, 0.5},
       {0, least, 1, -1, 0.5, 2e-7},
       [](double y, double p) { return p >= least ? 2 * (std::log1p(std::max(p, least)) - std::log1p(std::max(y, least))) / (1 + p) : 0; }},
      {"huber", huber({.reduction = sum}), {0, 1}, errors, huber_slope},
      {"huber, delta 1/2",
       huber({.delta = 0.5, .reduction = sum}),
       {0},
       errors,
       [](double y, double p) { return std::clamp(p - y, -0.5, 0.5); }},
      {"log_cosh", log_cosh({.reduction = sum}), {0, 1}, errors, [](double y, double p) { return std::tanh(p - y); }},
      {"hinge", hinge({.reduction = sum}), {0, 1, -1}, errors, [=](double y, double p) { return 1 - sided(y) * p >= 0 ? -sided(y) : 0; }},
      {"squared hinge",
       squared_hinge({.reduction = sum}),
       {0, 1, -1},
       errors,
       [=](double y, double p) { return -2 * sided(y) * std::max(1 - sided(y) * p, 0.0); }},
      {"poisson", poisson({.reduction = sum}), {0, 1, 0.5}, {0.5, 1, 2, 1e6}, [](double y, double p) { return 1 - y / (p + least); }},
      {"divergence",
       kl_divergence({.reduction = sum}),
       {0, 1, 0.5},
       {0, 1, least, 0.5, -1, 1.5, 1e-8},
       [](double y, double p) { return is_within(p, least, 1) ? -std::clamp(y, least, 1.0) / p : 0; }},
  };
}

class LossSlopes : public testing::TestWithParam<Case> {};

Tensor slopes(const Loss& loss, const Tensor& target, const Tensor& prediction) {
  GradientTape tape;
  tape.watch(prediction);
  return tape.gradient(loss(target, prediction), prediction);
}

// Every target with every prediction, a row each.
struct Grid {
  Tensor target, prediction;
  Numbers wanted;
  explicit Grid(const Case& each) {
    Numbers y, p;
    for (const double target_value : each.targets) {
      for (const double prediction_value : each.predictions) {
        y.push_back(target_value);
        p.push_back(prediction_value);
        wanted.push_back(each.slope(target_value, prediction_value));
      }
    }
    const auto rows = static_cast<int64_t>(y.size());
    target = tensor(y, {rows, 1});
    prediction = tensor(p, {rows, 1});
  }
};

void expect_slopes(const Grid& grid, const Tensor& found, double relative, double absolute, const char* how) {
  const Numbers got = found.to_vector<double>(), y = grid.target.to_vector<double>(), p = grid.prediction.to_vector<double>();
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], grid.wanted[i], absolute + relative * std::abs(grid.wanted[i])) << how << ": y = " << y[i] << ", p = " << p[i];
}

TEST_P(LossSlopes, are_those_of_the_closed_form) {
  const Case& each = GetParam();
  const Grid grid(each);
  expect_slopes(grid, slopes(each.loss, grid.target, grid.prediction), 1e-9, 1e-12, "eagerly");
  auto traced = function([&](Tensor y, Tensor p) { return slopes(each.loss, y, p); }, {.name = "slopes"});
  expect_slopes(grid, traced(grid.target, grid.prediction), 1e-9, 1e-12, "traced");
}

// In f32 borders are elsewhere and far numbers infinite: only what an f32 holds.
TEST_P(LossSlopes, are_those_of_the_closed_form_in_f32) {
  Case each = GetParam();
  const auto is_exact = [](double x) { return static_cast<double>(static_cast<float>(x)) == x; };
  std::erase_if(each.targets, [&](double y) { return !is_exact(y); });
  std::erase_if(each.predictions, [&](double p) { return !is_exact(p); });
  const Grid grid(each);
  const Tensor target = cast(grid.target, f32), prediction = cast(grid.prediction, f32);
  expect_slopes(grid, cast(slopes(each.loss, target, prediction), f64), 2e-5, 2e-6, "in f32");
}

TEST_P(LossSlopes, lie_between_the_slopes_on_both_sides) {
  const Case& each = GetParam();
  for (const double y : each.targets) {
    for (const double p : each.predictions) {
      // The difference of two losses is lost in their size, or a step is no small one.
      if (std::abs(p) > 50 || (p != 0 && std::abs(p) < 1e-6)) continue;
      SCOPED_TRACE("y = " + std::to_string(y) + ", p = " + std::to_string(p));
      const Tensor target = tensor(Numbers{y}, {1, 1});
      expect_between_one_sided_slopes([&](const auto& in) { return each.loss(target, in[0]); }, {tensor(Numbers{p}, {1, 1})}, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, LossSlopes, testing::ValuesIn(cases()), [](const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::ranges::replace_if(name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
});

// s (1 - s) with s = sigmoid(x), and 0 by the label.
TEST(LossSlopes, of_slopes_of_logits_are_those_of_a_sigmoid) {
  const Tensor target = tensor(Numbers{0, 1, 0.5, 0}, {4, 1}), x = tensor(Numbers{0, 0, 0, 30}, {4, 1});
  GradientTape outer;
  outer.watch(x);
  const Tensor first = slopes(binary_crossentropy({.from_logits = true, .reduction = Reduction::Sum}), target, x);
  const Numbers second = outer.gradient(sum(first), x).to_vector<double>();
  for (size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(second[i], 0.25);
  EXPECT_NEAR(second[3], std::exp(-30.0), 1e-15);
}

// A label that is learned, too: the slope by it is -x, whichever half it is in.
TEST(LossSlopes, by_a_soft_label_are_the_logit_turned) {
  const Tensor y = tensor(Numbers{0, 1, 0.5, 0.7, 0.2}, {5, 1}), x = tensor(Numbers{2, -3, 1, 0, 4}, {5, 1});
  GradientTape tape;
  tape.watch(y);
  const Numbers found = tape.gradient(binary_crossentropy({.from_logits = true, .reduction = Reduction::Sum})(y, x), y).to_vector<double>();
  const Numbers wanted = {-2, 3, -1, 0, -4};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12) << i;
}

TEST(LossSlopes, behind_a_sigmoid_are_those_of_logits) {
  for (const Loss& loss :
       {binary_crossentropy({.reduction = Reduction::Sum}), binary_focal_crossentropy({.gamma = 0, .reduction = Reduction::Sum})}) {
    const Tensor target = tensor(Numbers{0, 1, 0.5}, {3, 1}), x = zeros({3, 1}, {.dtype = f64});
    GradientTape tape;
    tape.watch(x);
    const Numbers found = tape.gradient(loss(target, nn::activate("sigmoid", x)), x).to_vector<double>();
    EXPECT_EQ(found, (Numbers{0.5, -0.5, 0})) << loss.name();
  }
}

// The first step of a logistic regression whose weights are 0 goes downhill.
TEST(LossSlopes, of_zero_weights_point_downhill) {
  Model model = Sequential(Dense(1, {.activation = "sigmoid", .kernel_initializer = "zeros"}));
  model.compile({.optimizer = sgd({.learning_rate = 1.0}), .loss = binary_crossentropy()});
  const Tensor x = tensor({{1.0F}, {2.0F}, {-1.0F}, {-3.0F}}), y = tensor({{1.0F}, {1.0F}, {0.0F}, {0.0F}});
  model.fit(x, y, {.batch_size = 4, .verbose = Verbose::Silent, .shuffle = false});
  const std::vector<float> weights = model.trainable_variables()[0].read().to_vector<float>();
  EXPECT_NEAR(weights[0], 0.5 * (1 + 2 + 1 + 3) / 4, 1e-6);
}

// Rows of two classes: equal scores, certain and impossible ones, scores far apart.
struct RowCase {
  std::string name;
  Loss loss;
  bool is_sparse = false;
  std::function<Numbers(const Numbers& y, const Numbers& x)> slope;
};

Numbers softmax_of(const Numbers& x) {
  const double greatest = std::max(x[0], x[1]), a = std::exp(x[0] - greatest), b = std::exp(x[1] - greatest);
  return {a / (a + b), b / (a + b)};
}

std::vector<RowCase> row_cases() {
  constexpr auto total = Reduction::Sum;
  const auto of_logits = [](const Numbers& y, const Numbers& x) {
    const Numbers s = softmax_of(x);
    return Numbers{s[0] * (y[0] + y[1]) - y[0], s[1] * (y[0] + y[1]) - y[1]};
  };
  const auto of_shares = [](const Numbers& y, const Numbers& x) {
    const double whole = x[0] + x[1];
    Numbers pull(2), result(2);
    for (size_t i = 0; i < 2; ++i) pull[i] = is_within(x[i] / whole, least, 1 - least) ? y[i] : 0;
    for (size_t i = 0; i < 2; ++i) result[i] = -((pull[i] == 0 ? 0 : pull[i] / (x[i] / whole)) - (pull[0] + pull[1])) / whole;
    return result;
  };
  const auto of_logarithms = [](const Numbers& y, const Numbers& x) {
    const Numbers c = {std::clamp(x[0], least, 1 - least), std::clamp(x[1], least, 1 - least)};
    Numbers result(2);
    for (size_t i = 0; i < 2; ++i) result[i] = is_within(x[i], least, 1 - least) ? 1 / (c[0] + c[1]) - y[i] / c[i] : 0;
    return result;
  };
  const auto of_angles = [](const Numbers& y, const Numbers& x) {
    const double length = std::sqrt(std::max(y[0] * y[0] + y[1] * y[1], 1e-12)), square = x[0] * x[0] + x[1] * x[1];
    const Numbers u = {y[0] / length, y[1] / length};
    if (square < 1e-12) return Numbers{-u[0] * 1e6, -u[1] * 1e6};
    const double root = std::sqrt(square), along = (u[0] * x[0] + u[1] * x[1]) / (square * root);
    return Numbers{-(u[0] / root - along * x[0]), -(u[1] / root - along * x[1])};
  };
  return {{"categorical, logits", categorical_crossentropy({.from_logits = true, .reduction = total}), false, of_logits},
          {"categorical, probabilities", categorical_crossentropy({.reduction = total}), false, of_shares},
          {"sparse, logits", sparse_categorical_crossentropy({.from_logits = true, .reduction = total}), true, of_logits},
          {"sparse, probabilities", sparse_categorical_crossentropy({.reduction = total}), true, of_logarithms},
          {"cosine", cosine_similarity({.reduction = total}), false, of_angles}};
}

TEST(LossSlopes, of_rows_are_those_of_the_closed_form) {
  const std::vector<Numbers> targets = {{1, 0}, {0, 1}, {0.5, 0.5}};
  const std::vector<Numbers> scores = {{0, 0}, {1, 1}, {1, 0}, {0, 1}, {0.5, 0.5}, {0.3, 0.7}, {least, 1 - least}, {40, -40}, {-700, 700}};
  for (const RowCase& each : row_cases()) {
    const bool takes_shares = each.name == "categorical, probabilities";  // of a whole that is not 0
    for (const Numbers& y : targets) {
      for (const Numbers& x : scores) {
        if ((each.is_sparse && y[0] == 0.5) || (takes_shares && x[0] + x[1] == 0)) continue;
        const Tensor target = each.is_sparse ? tensor({y[0] == 1 ? 0 : 1}) : tensor(y, {1, 2}), prediction = tensor(x, {1, 2});
        const Numbers wanted = each.slope(y, x), got = slopes(each.loss, target, prediction).to_vector<double>();
        auto traced = function([&](Tensor t, Tensor p) { return slopes(each.loss, t, p); }, {.name = "slopes"});
        const Numbers from_trace = traced(target, prediction).to_vector<double>();
        for (size_t i = 0; i < 2; ++i) {
          const double allowed = 1e-12 + 1e-9 * std::abs(wanted[i]);
          EXPECT_NEAR(got[i], wanted[i], allowed) << each.name << " of " << x[0] << ", " << x[1] << " for " << y[0] << " element " << i;
          EXPECT_NEAR(from_trace[i], wanted[i], allowed) << each.name << " traced";
        }
        if (std::abs(x[0]) > 50 || each.name == "cosine") continue;
        expect_between_one_sided_slopes([&](const auto& in) { return each.loss(target, in[0]); }, {prediction}, 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace anyshape::test
