// The progress line: fitted to the width, plain where it must be.
#include "model/progress_line.h"

#include <gtest/gtest.h>

namespace anyshape::model {
namespace {

Scores scores_of(const std::vector<std::pair<std::string, double>>& values) {
  Scores scores;
  for (const auto& [name, value] : values) scores.set(name, value);
  return scores;
}

const EpochState half{
    .title = "Epoch 2/10", .total = 375, .done = 150, .seconds = 1.5, .scores = scores_of({{"loss", 0.4123}, {"accuracy", 0.871}})};

TEST(ProgressLine, shows_everything_on_80_columns) {
  EXPECT_EQ(running_line(half, {.is_there = true, .width = 80}),
            "Epoch 2/10  ##....  150/375  2 s left  10 ms/step  loss 0.4123  accuracy 0.8710");
}

TEST(ProgressLine, leaves_out_what_matters_less_on_40_columns) {
  EXPECT_EQ(running_line(half, {.is_there = true, .width = 40}), "Epoch 2/10  ##...  150/375  loss 0.4123");
}

TEST(ProgressLine, is_narrower_than_any_terminal_that_holds_its_title) {
  for (int width = 20; width < 140; ++width) {
    const std::string line = running_line(half, {.is_there = true, .width = width});
    EXPECT_LT(static_cast<int>(line.size()), width) << line;
    EXPECT_TRUE(line.starts_with("Epoch 2/10")) << line;
  }
}

TEST(ProgressLine, has_a_smooth_bar_and_colour_where_they_are_welcome) {
  const EpochState little{.title = "Epoch 1/1", .total = 4, .done = 1, .seconds = 4};
  EXPECT_EQ(running_line(little, {.is_there = true, .width = 50, .has_unicode = true, .has_colour = true}),
            "Epoch 1/1  \033[32m██\033[0m░░░░░░░  1/4  12 s left  4.00 s/step");
  EXPECT_EQ(running_line(little, {.is_there = true, .width = 50}), "Epoch 1/1  ##.......  1/4  12 s left  4.00 s/step");
}

TEST(ProgressLine, keeps_its_bar_as_wide_as_it_is) {
  EpochState state = half;
  state.done = 9;
  state.seconds = 0.09;
  EXPECT_EQ(running_line(state, {.is_there = true, .width = 80}),
            "Epoch 2/10  ......    9/375  4 s left  10 ms/step  loss 0.4123  accuracy 0.8710");
}

TEST(ProgressLine, has_no_bar_where_the_number_of_steps_is_not_known) {
  EpochState open = half;
  open.total.reset();
  EXPECT_EQ(running_line(open, {.is_there = true, .width = 80}), "Epoch 2/10  150 steps  10 ms/step  loss 0.4123  accuracy 0.8710");
}

TEST(ProgressLine, counts_rows_where_batches_are_of_unequal_size) {
  EpochState images{.title = "Epoch 2/3", .total = 2000, .done = 500, .seconds = 1, .scores = scores_of({{"loss", 0.5}}), .unit = "image"};
  EXPECT_EQ(running_line(images, {.is_there = true, .width = 80}),
            "Epoch 2/3  ###..........   500/2000 images  3 s left  2.0 ms/image  loss 0.5000");
  images.total.reset();
  EXPECT_EQ(running_line(images, {.is_there = true, .width = 80}), "Epoch 2/3  500 images  2.0 ms/image  loss 0.5000");
  EXPECT_EQ(final_line(images, {}), "Epoch 2/3  500 images  1 s  2.0 ms/image  loss 0.5000");
  images.total = 400;  // what another epoch had: this one has more
  EXPECT_EQ(running_line(images, {.is_there = true, .width = 80}),
            "Epoch 2/3  ###############  500/400 images  0 s left  2.0 ms/image  loss 0.5000");
}

TEST(ProgressLine, ends_with_all_scores) {
  EpochState over = half;
  over.done = 375;
  over.seconds = 3700;
  over.scores.set("val_loss", 1.25e-5);
  over.scores.set("val_accuracy", 0.9);
  EXPECT_EQ(final_line(over, {}),
            "Epoch 2/10  375 steps  1:01:40  9.87 s/step  loss 0.4123  accuracy 0.8710  val_loss 1.250e-05  val_accuracy 0.9000");
  EXPECT_EQ(final_line(over, {.is_there = true, .width = 80}),
            "Epoch 2/10  loss 0.4123  accuracy 0.8710  val_loss 1.250e-05  val_accuracy 0.9000");
}

}  // namespace
}  // namespace anyshape::model
