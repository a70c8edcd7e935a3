// Ctrl-C during fit, and what fit writes where there is no terminal.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <csignal>

namespace anyshape {
namespace {

// Ctrl-C as it is in a terminal: what a shell starts in the background may ignore it, and a program inherits that.
class Interrupt : public testing::Test {
 protected:
  Interrupt() : before_(std::signal(SIGINT, SIG_DFL)) {}
  ~Interrupt() override { std::signal(SIGINT, before_); }

 private:
  void (*before_)(int);
};
using InterruptDeathTest = Interrupt;

Model compiled_model() {
  Model model = Sequential(Dense(1));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}

// Interrupts `times` times after step `at`.
AnyCallback interrupting(int64_t at, int times) {
  return LambdaCallback({.on_batch_end = [=](Model&, int64_t step, const Scores&) {
    for (int i = 0; step == at && i < times; ++i) std::raise(SIGINT);
  }});
}

struct sigaction handler_now() {
  struct sigaction action{};
  sigaction(SIGINT, nullptr, &action);
  return action;
}

TEST_F(Interrupt, ends_fit_after_the_step_with_a_whole_history) {
  const struct sigaction before = handler_now();
  Model model = compiled_model();
  const Tensor x = ones({10, 2}), y = ones({10, 1});
  const History history = model.fit(
      x, y,
      {.batch_size = 1, .epochs = 3, .verbose = Verbose::Silent, .callbacks = {interrupting(2, 1)}, .validation_data = {.x = x, .y = y}});
  EXPECT_EQ(model.train_step().stats().calls, 3);
  EXPECT_EQ(history.epochs(), 1);
  EXPECT_TRUE(std::isfinite(history["loss"][0]));
  ASSERT_EQ(history["val_loss"].size(), 1U);
  EXPECT_TRUE(std::isnan(history["val_loss"][0]));  // there was no time for it
  EXPECT_EQ(handler_now().sa_handler, before.sa_handler);
  // The next fit knows nothing of it.
  EXPECT_EQ(model.fit(x, y, {.epochs = 2, .verbose = Verbose::Silent}).epochs(), 2);
}

TEST_F(Interrupt, is_left_alone_where_the_program_ignores_it) {
  const auto before = std::signal(SIGINT, SIG_IGN);
  Model model = compiled_model();
  EXPECT_EQ(
      model.fit(ones({4, 2}), ones({4, 1}), {.batch_size = 1, .epochs = 2, .verbose = Verbose::Silent, .callbacks = {interrupting(1, 2)}})
          .epochs(),
      2);
  std::signal(SIGINT, before);
}

TEST_F(InterruptDeathTest, the_second_one_ends_the_program) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      compiled_model().fit(ones({4, 2}), ones({4, 1}), {.batch_size = 1, .verbose = Verbose::Silent, .callbacks = {interrupting(1, 2)}}),
      testing::KilledBySignal(SIGINT), "");
}

TEST(Progress, is_a_plain_line_per_epoch_in_a_pipe) {
  testing::internal::CaptureStdout();
  Model model = compiled_model();
  model.fit(ones({64, 2}), ones({64, 1}), {.batch_size = 8, .epochs = 3});
  model.evaluate(ones({8, 2}), ones({8, 1}));
  model.predict(ones({8, 2}));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::ranges::count(text, '\n'), 4) << text;
  EXPECT_TRUE(std::ranges::all_of(text, [](unsigned char c) { return std::isprint(c) != 0 || c == '\n'; })) << text;
  EXPECT_TRUE(text.starts_with("Epoch 1/3  8 steps  ")) << text;
  EXPECT_NE(text.find("\nEvaluating  1 step  "), std::string::npos) << text;
}

TEST(Progress, tells_what_is_traced_again_and_why) {
  testing::internal::CaptureStdout();
  Model model = compiled_model();
  model.fit(ones({8, 2}), ones({8, 1}), {.shapes = Shapes::Exact});
  model.fit(ones({12, 2}), ones({12, 1}), {.shapes = Shapes::Exact});
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("\ntraced again: argument 2 (x[0]): f32[8, 2] became f32[12, 2]"), std::string::npos) << text;
}

TEST(Progress, is_silent_where_it_is_told_so) {
  testing::internal::CaptureStdout();
  Model model = compiled_model();
  model.fit(ones({8, 2}), ones({8, 1}), {.verbose = Verbose::Silent});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace anyshape
