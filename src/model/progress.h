// What fit shows: on a terminal one redrawn line, elsewhere one line per epoch.
#pragma once
#include <anyshape/history.h>
#include <anyshape/model.h>

#include <chrono>
#include <optional>
#include <string>

namespace anyshape::model {

class Progress {
 public:
  Progress(Verbose verbose, int64_t epochs, std::string what = "Epoch");  // `what` begins the line: "Epoch", "Evaluating"
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin_epoch(int64_t epoch, std::optional<int64_t> steps);
  bool is_due() const;  // at most ten times a second, and after the first step
  void show(int64_t steps_done, const Scores& scores);
  void compiling();                    // the first step is being traced and compiled
  void note(const std::string& line);  // a line of its own above the bar
  void end_epoch(int64_t steps_done, const Scores& scores);
  bool is_silent() const { return mode_ == Verbose::Silent; }

 private:
  std::string line(int64_t steps_done, const Scores& scores, bool is_final, int width) const;
  void draw(const std::string& text);

  Verbose mode_;
  int64_t epochs_;
  std::string what_;
  int64_t epoch_ = 0;
  std::optional<int64_t> steps_;
  std::chrono::steady_clock::time_point start_, last_;
  bool is_drawn_ = false;
};

}  // namespace anyshape::model
