// The progress line, fitted to the terminal's width.
#include "model/progress.h"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace anyshape::model {
namespace {

using std::chrono::steady_clock;

double seconds_since(steady_clock::time_point start) { return std::chrono::duration<double>(steady_clock::now() - start).count(); }

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* const columns = std::getenv("COLUMNS");
  return columns == nullptr ? 80 : std::max(20, std::atoi(columns));
}

bool has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != 0) return std::strstr(value, "UTF-8") != nullptr || std::strstr(value, "utf8") != nullptr;
  }
  return false;
}

bool has_colour() { return std::getenv("NO_COLOR") == nullptr; }

std::string duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string per_step(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} us/step", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms/step", seconds * 1e3);
  return fmt::format("{:.2f} s/step", seconds);
}

std::string bar(double share, int width) {
  const int full = std::clamp(static_cast<int>(share * width), 0, width);
  std::string done, left;
  for (int i = 0; i < width; ++i) (i < full ? done : left) += has_unicode() ? (i < full ? "█" : "░") : (i < full ? "#" : ".");
  return has_colour() ? fmt::format("\033[32m{}\033[0m{}", done, left) : done + left;
}

}  // namespace

Progress::Progress(Verbose verbose, int64_t epochs, std::string what) : mode_(verbose), epochs_(epochs), what_(std::move(what)) {
  if (mode_ == Verbose::Auto) mode_ = isatty(STDOUT_FILENO) != 0 ? Verbose::Bar : Verbose::Line;
}

Progress::~Progress() {
  if (is_drawn_) std::fputs("\n", stdout);  // an exception or an interrupt leaves the line as it stands
}

void Progress::begin_epoch(int64_t epoch, std::optional<int64_t> steps) {
  epoch_ = epoch;
  steps_ = steps;
  start_ = last_ = steady_clock::now();
}

void Progress::compiling() {
  if (mode_ == Verbose::Bar) draw(fmt::format("{} {}/{}  compiling", what_, epoch_ + 1, epochs_));
}

bool Progress::is_due() const { return mode_ == Verbose::Bar && seconds_since(last_) >= 0.1; }

void Progress::show(int64_t steps_done, const Scores& scores) {
  last_ = steady_clock::now();
  draw(line(steps_done, scores, false, terminal_width()));
}

void Progress::note(const std::string& text) {
  if (mode_ == Verbose::Silent) return;
  if (mode_ == Verbose::Bar) std::fputs("\r\033[K", stdout);
  std::fputs((text + "\n").c_str(), stdout);
  is_drawn_ = false;
}

void Progress::end_epoch(int64_t steps_done, const Scores& scores) {
  if (mode_ == Verbose::Silent) return;
  if (mode_ == Verbose::Bar) {
    draw(line(steps_done, scores, true, terminal_width()));
    std::fputs("\n", stdout);
    is_drawn_ = false;
  } else {
    std::fputs((line(steps_done, scores, true, 1000) + "\n").c_str(), stdout);
  }
  std::fflush(stdout);
}

// Epoch 2/10 ████████░░░░ 120/375  3 s left  8.1 ms/step  loss 0.412  accuracy 0.871. What does not fit is left out from the right;
// the bar takes what is left.
std::string Progress::line(int64_t steps_done, const Scores& scores, bool is_final, int width) const {
  const double elapsed = seconds_since(start_);
  const double each = steps_done > 0 ? elapsed / static_cast<double>(steps_done) : 0;
  std::vector<std::string> parts = {fmt::format("{} {}/{}", what_, epoch_ + 1, epochs_)};
  parts.push_back(steps_ && !is_final ? fmt::format("{}/{}", steps_done, *steps_) : fmt::format("{} steps", steps_done));
  if (is_final) {
    parts.push_back(duration(elapsed));
  } else if (steps_) {
    parts.push_back(duration(each * static_cast<double>(*steps_ - steps_done)) + " left");
  }
  parts.push_back(per_step(each));
  for (const auto& [name, value] : scores.all()) parts.push_back(fmt::format("{} {:.4g}", name, value));

  const bool has_bar = mode_ == Verbose::Bar && steps_ && !is_final;
  int used = has_bar ? 12 : 0;  // the least bar with its space
  std::string tail;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int length = static_cast<int>(parts[i].size()) + (i == 0 ? 0 : 2);
    if (used + length >= width) break;
    used += length;
    if (i > 0) tail += "  " + parts[i];
  }
  if (!has_bar) return parts[0] + tail;
  const int room = std::min(30, 11 + width - used - 1);
  return fmt::format("{}  {}{}", parts[0],
                     bar(static_cast<double>(steps_done) / static_cast<double>(std::max<int64_t>(*steps_, 1)), room - 1), tail);
}

void Progress::draw(const std::string& text) {
  std::fputs(("\r\033[K" + text).c_str(), stdout);
  std::fflush(stdout);
  is_drawn_ = true;
}

}  // namespace anyshape::model
