// What fit shows: on a terminal one redrawn line, elsewhere one line per epoch.
#pragma once
#include "model/progress_line.h"

#include <anyshape/model.h>

#include <chrono>
#include <string>

namespace anyshape::model {

class Progress {
 public:
  explicit Progress(Verbose verbose);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(std::string title, std::optional<int64_t> steps);  // an epoch
  bool is_due() const;                                          // at most ten times a second
  void show(int64_t steps_done, Scores scores);
  void compiling();                    // the first step is being traced and compiled
  void note(const std::string& line);  // a line of its own
  void end(int64_t steps_done, Scores scores);

 private:
  void draw(const std::string& text);
  void update(int64_t steps_done, Scores scores);

  Verbose mode_;  // Silent, Line or Bar
  EpochState state_;
  std::chrono::steady_clock::time_point start_, last_;
  bool is_drawn_ = false;
};

}  // namespace anyshape::model
