// What fit shows: on a terminal one redrawn line, elsewhere one line per epoch.
#pragma once
#include "model/batches.h"
#include "model/progress_line.h"

#include <anyshape/model.h>

#include <chrono>
#include <string>

namespace anyshape::model {

// How much of an epoch there is so far.
struct Done {
  int64_t steps = 0;
  int64_t rows = 0;

  void add(const Batch& batch) {
    ++steps;
    rows += row_count(batch.x.front());
  }
};

class Progress {
 public:
  explicit Progress(Verbose verbose);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void begin(std::string title, const Extent& extent);  // an epoch
  bool is_due() const;                                  // at most ten times a second
  void show(Done done, Scores scores);
  void compiling();                    // the first step is being traced and compiled
  void note(const std::string& line);  // a line of its own
  void end(Done done, Scores scores);

 private:
  void draw(const std::string& text);
  void update(Done done, Scores scores);

  Verbose mode_;  // Silent, Line or Bar
  EpochState state_;
  bool counts_rows_ = false;
  std::chrono::steady_clock::time_point start_, last_;
  bool is_drawn_ = false;
};

}  // namespace anyshape::model
