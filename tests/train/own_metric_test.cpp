// Metrics of the user's own, by hand: the same sums eagerly and traced, with weights, masks and rows of unequal length, and copies of their own.
#include "nn/notes.h"
#include "support/text_of.h"
#include "train/mean_error.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

// How often each class was right; its sums are made with the first batch.
class Hits : public StreamingMetric {
 public:
  Hits() : StreamingMetric("hits") {}
  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const auto [label, scores, weight] = weighed(target, prediction, sample_weight, TargetForm::ClassNumbers);
    if (!hits_.defined()) hits_ = running_sum("hits", {scores.shape()[-1]});
    const Tensor is_hit = cast(label == argmax(scores, {.axis = -1}), Dtype::f32) * weight;
    const Tensor by_class = one_hot(label, scores.shape()[-1]) * expand_dims(is_hit, -1);
    add(hits_, sum(reshape(by_class, {-1, hits_.shape()[0]}), {.axes = {0}}));
  }
  Tensor result() const override { return hits_.defined() ? hits_.read() : zeros({0}); }

 private:
  Variable hits_;
};

// The greatest error so far: nothing that begins at 0.
class Greatest : public StreamingMetric {
 public:
  Greatest() : StreamingMetric("greatest") { reset(); }
  void update(const Tensor& target, const Tensor& prediction, const Tensor&) override {
    greatest_.assign(maximum(greatest_, cast(max(prediction - target), Dtype::f64)));
  }
  Tensor result() const override { return greatest_; }
  void reset() override { greatest_.assign(full({}, cast(Tensor(-1000.0), Dtype::f64))); }

 private:
  Variable greatest_ = running_sum("greatest");
};

class OwnMetric : public testing::TestWithParam<bool> {
 protected:
  // A batch, added eagerly or by a traced function; all batches of a test by one trace.
  void add(Metric metric, const Tensor& y, const Tensor& p, const Tensor& weight = {}) {
    if (!GetParam()) return weight.defined() ? metric.update(y, p, weight) : metric.update(y, p);
    step_(metric, y, p, weight.defined() ? std::optional(weight) : std::nullopt);
  }
  Function<void(Metric, Tensor, Tensor, std::optional<Tensor>)> step_ =
      function([](Metric metric, Tensor y, Tensor p, std::optional<Tensor> weight) { metric.update(y, p, weight.value_or(Tensor())); },
               {.name = "step", .retrace = Retrace::Allow});
};
INSTANTIATE_TEST_SUITE_P(Modes, OwnMetric, testing::Bool(), [](const auto& mode) { return std::string(mode.param ? "traced" : "eager"); });

TEST_P(OwnMetric, adds_batches_of_any_size_up_and_begins_anew) {
  Metric metric = MeanError();
  EXPECT_EQ(metric.name(), "mean_error");
  EXPECT_EQ(metric.result().item<float>(), 0);
  add(metric, tensor({1.0F, 2.0F}), tensor({2.0F, 5.0F}));
  EXPECT_EQ(metric.result().dtype(), Dtype::f32);
  EXPECT_EQ(metric.result().item<float>(), 2) << "(1 + 3) / 2";
  add(metric, tensor({0.0F, 0.0F, 0.0F}), tensor({1.0F, 1.0F, 9.0F}));
  EXPECT_EQ(metric.result().item<float>(), 3) << "(1 + 3 + 1 + 1 + 9) / 5";
  metric.reset();
  add(metric, tensor({0.0F}), tensor({-4.0F}));
  EXPECT_EQ(metric.result().item<float>(), -4);
  EXPECT_EQ(step_.stats().traces, GetParam() ? 1 : 0);
}

TEST_P(OwnMetric, is_given_weights_masks_and_ragged_rows) {
  Metric metric = MeanError();
  add(metric, tensor({0.0F, 0.0F}), tensor({3.0F, 6.0F}), tensor({2.0F, 1.0F}));
  EXPECT_EQ(metric.result().item<float>(), 4) << "(2 * 3 + 6) / 3";

  Metric masked = MeanError();
  const Tensor mask = tensor({{true, false}, {true, true}});
  auto with_mask = [&](const Tensor& p) { return nn::with_mask(p, mask); };
  if (GetParam()) {
    auto step = function([&](Tensor y, Tensor p) { masked.update(y, with_mask(p)); }, {.name = "masked"});
    step(zeros({2, 2}), tensor<float>({{1, 100}, {2, 6}}));
  } else {
    masked.update(zeros({2, 2}), with_mask(tensor<float>({{1, 100}, {2, 6}})));
  }
  EXPECT_EQ(masked.result().item<float>(), 3) << "(1 + 2 + 6) / 3";

  Metric of_rows = MeanError();
  add(of_rows, ragged<float>({{0, 0, 0}, {}, {0}}), ragged<float>({{1, 2, 3}, {}, {6}}), tensor({1.0F, 5.0F, 2.0F}));
  EXPECT_FLOAT_EQ(of_rows.result().item<float>(), 18.0F / 5) << "(1 + 2 + 3 + 2 * 6) / (3 + 2)";
}

TEST_P(OwnMetric, may_take_class_numbers_and_make_its_sums_with_the_first_batch) {
  Metric metric = Hits();
  EXPECT_EQ(metric.result().shape(), Shape{0});
  const Tensor scores = tensor<float>({{9, 0, 0}, {0, 9, 0}, {9, 0, 0}, {0, 0, 9}});
  add(metric, tensor({0, 1, 2, 2}), scores, tensor({1.0F, 2.0F, 1.0F, 0.5F}));
  EXPECT_EQ(metric.result().to_vector<float>(), (std::vector<float>{1, 2, 0.5}));
  Metric fresh = metric.clone();
  EXPECT_EQ(fresh.result().to_vector<float>(), (std::vector<float>{0, 0, 0}));
  add(metric, tensor({0, 1, 1, 1}), scores, tensor({1.0F, 1.0F, 1.0F, 1.0F}));
  EXPECT_EQ(metric.result().to_vector<float>(), (std::vector<float>{2, 3, 0.5}));
  EXPECT_EQ(step_.stats().traces, GetParam() ? 1 : 0);
  Metric of_positions = Hits();  // [rows, positions, classes]
  add(of_positions, tensor({{0, 1}, {2, 2}}), reshape(scores, {2, 2, 3}));
  EXPECT_EQ(of_positions.result().to_vector<float>(), (std::vector<float>{1, 1, 1}));
}

TEST_P(OwnMetric, may_begin_with_something_else) {
  Metric metric = Greatest();
  add(metric, zeros({2}), tensor({-7.0F, -3.0F}));
  EXPECT_EQ(metric.result().item<float>(), -3);
  EXPECT_EQ(metric.clone().result().item<float>(), -1000);
  metric.reset();
  add(metric, zeros({2}), tensor({-7.0F, -8.0F}));
  EXPECT_EQ(metric.result().item<float>(), -7);
}

TEST(OwnMetrics, share_sums_among_copies_and_have_their_own_as_clones) {
  MeanError own;
  Metric metric = own, copy = metric, same = own, clone = metric.clone();
  metric.update(zeros({1}), ones({1}));
  EXPECT_EQ(copy.result().item<float>(), 1);
  EXPECT_EQ(same.result().item<float>(), 1) << "a copy of the object has its sums";
  EXPECT_EQ(clone.result().item<float>(), 0);
  clone.update(zeros({1}), full({1}, 5.0F));
  EXPECT_EQ(clone.result().item<float>(), 5);
  EXPECT_EQ(metric.result().item<float>(), 1);
  ASSERT_EQ(clone.variables().size(), 2U);
  EXPECT_EQ(clone.variables()[0].name(), "mean_error/total");
  EXPECT_NE(clone.variables()[0].id(), metric.variables()[0].id());
}

// Compares after a layer and a scale that all of its copies use.
class Through : public StreamingMetric {
 public:
  Through(AnyLayer layer, Variable scale) : StreamingMetric("through"), layer_(std::move(layer)), scale_(std::move(scale)) {}
  void update(const Tensor& target, const Tensor& prediction, const Tensor&) override {
    add(total_, sum(layer_(prediction) * scale_ - target));
  }
  Tensor result() const override { return total_; }

 private:
  AnyLayer layer_;
  Variable scale_, total_ = running_sum("total");
};

TEST(OwnMetrics, share_what_is_no_sum_with_their_clones) {
  Dense layer(1, {.use_bias = false, .kernel_initializer = "ones"});
  layer.build(Shape{dynamic, 1});
  const Variable scale(ones({}), {.name = "scale"});
  Metric clone = Metric(Through(layer, scale)).clone();
  layer.set_weights({full({1, 1}, 3.0F)});
  scale.assign(full({}, 2.0F));
  clone.update(zeros({1, 1}), ones({1, 1}));
  EXPECT_EQ(clone.result().item<float>(), 6) << "the weights of now, not those of when it was cloned";
}

class Broken : public StreamingMetric {
 public:
  explicit Broken(const std::string& name) : StreamingMetric(name) {}
  void update(const Tensor&, const Tensor&, const Tensor&) override {
    running_sum("total");
    running_sum("total");
  }
  Tensor result() const override { return {}; }
};

TEST(OwnMetrics, say_what_is_wrong_with_them) {
  EXPECT_EQ(text_of<ArgumentError>([] { Broken(""); }), "metric: the name is empty; expected one, under which its value is reported.");
  Metric broken = Broken("broken");
  EXPECT_EQ(text_of<ArgumentError>([&] { broken.update(ones({1}), ones({1})); }),
            "metric \"broken\": two sums are named \"total\"; expected each to be made once, with a name of its own.");
  EXPECT_EQ(text_of<ArgumentError>([&] { static_cast<void>(broken.result()); }),
            "metric \"broken\": result() gave an empty tensor handle; expected a tensor.");
  Metric mean = MeanError();
  const std::string text = text_of<ShapeError>([&] { mean.update(ones({2}), ones({2, 3})); });
  EXPECT_NE(text.find("mean_error: the target (a) has one value where the prediction (b) has several"), std::string::npos) << text;
}

}  // namespace
}  // namespace anyshape::test
