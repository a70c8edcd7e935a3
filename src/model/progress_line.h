// The text of the progress line: what is known of an epoch, fitted to a terminal.
#pragma once
#include <anyshape/history.h>

#include <cstdint>
#include <optional>
#include <string>

namespace anyshape::model {

struct Terminal {
  bool is_there = false;  // else one line per epoch, without control characters
  int width = 80;
  bool has_unicode = false;
  bool has_colour = false;
};
Terminal standard_output();  // as it is now: its width may change

struct EpochState {
  std::string title;  // "Epoch 2/10"
  std::optional<int64_t> total = {};
  int64_t done = 0;
  double seconds = 0;
  Scores scores = {};
  std::string unit = "step";  // what is counted
};
// Epoch 2/10  ████████░░░░  120/375  3 s left  8.1 ms/step  loss 0.4120  accuracy 0.8710. Shorter than the terminal is wide: what matters
// less is left out first, and the bar takes what is left. Where images are counted it says 1200/2000 images and 0.4 ms/image.
std::string running_line(const EpochState& state, const Terminal& terminal);
// Epoch 2/10  375 steps  3 s  8.1 ms/step  loss 0.4120  val_loss 0.5012. On a narrow terminal the scores alone.
std::string final_line(const EpochState& state, const Terminal& terminal);

}  // namespace anyshape::model
