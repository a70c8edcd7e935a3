// Drawing.
#include "model/progress.h"

#include <cstdio>

namespace anyshape::model {
namespace {

using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) { return std::chrono::duration<double>(steady_clock::now() - start).count(); }

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

Progress::Progress(Verbose verbose) : mode_(verbose) {
  const bool is_terminal = standard_output().is_there;
  if (mode_ == Verbose::Auto) mode_ = Verbose::Bar;
  if (mode_ == Verbose::Bar && !is_terminal) mode_ = Verbose::Line;  // nothing to redraw in a file
}

Progress::~Progress() {
  if (is_drawn_) print("\n");  // an exception leaves the line as it stands
}

void Progress::begin(std::string title, const Extent& extent) {
  state_ = {.title = std::move(title), .total = extent.count, .unit = extent.unit};
  counts_rows_ = extent.is_of_rows;
  start_ = last_ = steady_clock::now();
}

void Progress::compiling() {
  if (mode_ == Verbose::Bar) draw(state_.title + "  compiling");
}

bool Progress::is_due() const { return mode_ == Verbose::Bar && seconds_since(last_) >= 0.1; }

void Progress::update(Done done, Scores scores) {
  state_.done = counts_rows_ ? done.rows : done.steps;
  state_.scores = std::move(scores);
  state_.seconds = seconds_since(start_);
  last_ = steady_clock::now();
}

void Progress::show(Done done, Scores scores) {
  update(done, std::move(scores));
  draw(running_line(state_, standard_output()));
}

void Progress::note(const std::string& text) {
  if (mode_ == Verbose::Silent) return;
  print((is_drawn_ ? "\r\033[K" : "") + text + "\n");
  is_drawn_ = false;
}

void Progress::end(Done done, Scores scores) {
  if (mode_ == Verbose::Silent) return;
  update(done, std::move(scores));
  Terminal terminal = standard_output();
  terminal.is_there = mode_ == Verbose::Bar;
  print((is_drawn_ ? "\r\033[K" : "") + final_line(state_, terminal) + "\n");
  is_drawn_ = false;
}

void Progress::draw(const std::string& text) {
  print("\r\033[K" + text);
  is_drawn_ = true;
}

}  // namespace anyshape::model
