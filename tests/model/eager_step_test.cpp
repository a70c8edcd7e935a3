// Steps that run op by op: built without a trace, and all of an update or none.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {
namespace {

using test::text_of;

// Looks at values, which a trace has not.
class Watching : public Layer {
 public:
  explicit Watching(std::vector<float>& seen) : seen_(&seen) {}
  void build(const Shape& input) override { scale_ = weight("scale", {input[-1]}, {.initializer = "ones"}); }
  Tensor call(const Tensor& x, const CallContext&) override {
    seen_->push_back(sum(x).item<float>());
    return x * scale_;
  }

 private:
  std::vector<float>* seen_;
  Variable scale_;
};

TEST(EagerStep, builds_without_a_trace) {
  std::vector<float> seen;
  Model model = Sequential(Watching(seen), Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse", .run_eagerly = true});
  model.fit(ones({4, 3}), ones({4, 1}), {.batch_size = 4, .verbose = Verbose::Silent});
  ASSERT_EQ(seen.size(), 2U);  // a row to build it, then the step
  EXPECT_EQ(seen[1], 12);
  EXPECT_EQ(model.predict(ones({2, 3})).shape(), (Shape{2, 1}));
}

TEST(EagerStep, begins_with_the_weights_of_a_compiled_one) {
  std::vector<Tensor> kernels;
  for (const bool run_eagerly : {false, true}) {
    random::set_seed(7);
    Model model = Sequential(Dense(4), Lambda([](const Tensor& x) { return x + random::normal(x.shape()); }), Dense(1));
    model.compile({.optimizer = sgd({.learning_rate = 0}), .loss = "mse", .run_eagerly = run_eagerly});
    model.fit(ones({4, 3}), ones({4, 1}), {.verbose = Verbose::Silent});
    for (const Tensor& each : model.weights()) kernels.push_back(each);
  }
  ASSERT_EQ(kernels.size(), 8U);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(all_equal(kernels[i], kernels[i + 4])) << i;
}

TEST(EagerStep, that_fails_keeps_nothing_of_its_update) {
  const Variable outside(zeros({1}), {.trainable = false, .name = "outside"});
  auto count = function([&](Tensor by) {
    outside.assign_add(by);
    return by;
  });
  Model model = Sequential(Dense(2), BatchNormalization(), Dense(1));
  model.compile({.optimizer = "adam", .loss = "mse", .run_eagerly = true});
  model.build({dynamic, 3});
  model.compile({.optimizer = "adam",
                 .step = [&](Model& own, Optimizer& optimizer, const Tensor& x, const Tensor& y) -> Tensor {
                   GradientTape tape;
                   const Tensor loss = mean(square(own(x, {.training = true}) - y));
                   optimizer.apply(tape.gradient(loss, own.trainable_variables()), own.trainable_variables());
                   count(ones({1}));
                   throw DataError("no more");
                 },
                 .run_eagerly = true});
  const std::vector<Tensor> before = model.weights();
  EXPECT_EQ(text_of<DataError>([&] { model.fit(random::normal({4, 3}), ones({4, 1}), {.verbose = Verbose::Silent}); }), "no more");
  const std::vector<Tensor> after = model.weights();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(all_equal(after[i], before[i])) << model.variables()[i].name();
  EXPECT_EQ(model.optimizer().iterations().read().item<int64_t>(), 0);
  EXPECT_EQ(outside.read().item<float>(), 0);
}

TEST(EagerStep, that_meets_a_wrong_label_keeps_the_moving_statistics) {
  Model model = Sequential(BatchNormalization(), Dense(3));
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy", .run_eagerly = true});
  model.build({dynamic, 2});
  const std::vector<Tensor> before = model.weights();
  EXPECT_THROW(model.fit(random::normal({4, 2}), tensor<int32_t>({0, 1, 2, 7}), {.verbose = Verbose::Silent}), Error);
  const std::vector<Tensor> after = model.weights();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(all_equal(after[i], before[i])) << model.variables()[i].name();
}

TEST(EagerStep, looks_at_labels_without_a_mark) {
  const Variable calls(tensor({0}), {.trainable = false, .name = "calls"});
  Model model = Sequential(Lambda([&](const Tensor& x) {
                             calls.assign_add(1);
                             return x;
                           }),
                           Dense(3, {.activation = "softmax"}));
  model.compile({.optimizer = "sgd", .loss = "sparse_categorical_crossentropy", .run_eagerly = true});
  model.fit(ones({4, 2}), tensor({0, 1, 2, 0}), {.batch_size = 4, .verbose = Verbose::Silent});
  EXPECT_EQ(calls.read().item<int32_t>(), 1);
}

}  // namespace
}  // namespace anyshape
