// Parts of a line, and which of them fit.
#include "model/progress_line.h"

#include <fmt/format.h>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

namespace anyshape::model {
namespace {

constexpr int gap = 2, least_bar = 5, most_bar = 30;

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view columns = variable("COLUMNS");
  int width = 80;
  std::from_chars(columns.data(), columns.data() + columns.size(), width);
  return std::max(width, 20);
}

bool has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (!value.empty()) return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos;
  }
  return false;
}

std::string duration(double seconds) {
  const int64_t whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string per_unit(const EpochState& state) {
  const double seconds = state.seconds / static_cast<double>(std::max<int64_t>(state.done, 1));
  if (seconds < 1e-3) return fmt::format("{:.0f} us/{}", seconds * 1e6, state.unit);
  if (seconds < 1) return fmt::format("{:.{}f} ms/{}", seconds * 1e3, seconds < 0.01 ? 1 : 0, state.unit);
  return fmt::format("{:.2f} s/{}", seconds, state.unit);
}

std::string counted(const EpochState& state) { return fmt::format("{} {}{}", state.done, state.unit, state.done == 1 ? "" : "s"); }

// Of one width as long as it can: a line that is redrawn should not jump.
std::string score(const std::string& name, double value) {
  const double size = std::abs(value);
  const bool is_plain = value == 0 || (size >= 1e-3 && size < 1e4) || !std::isfinite(value);
  return is_plain ? fmt::format("{} {:.4f}", name, value) : fmt::format("{} {:.3e}", name, value);
}

std::string bar(double share, int width, const Terminal& terminal) {
  const int full = std::clamp(static_cast<int>(share * width), 0, width);
  std::string done, left;
  for (int i = 0; i < width; ++i) {
    if (i < full) {
      done += terminal.has_unicode ? "█" : "#";
    } else {
      left += terminal.has_unicode ? "░" : ".";
    }
  }
  return terminal.has_colour ? fmt::format("\033[32m{}\033[0m{}", done, left) : done + left;
}

struct Part {
  std::string text;
  int rank;  // the greatest goes first
  bool is_kept = true;
};

int width_of(const std::vector<Part>& parts) {
  int width = 0;
  for (const Part& part : parts) width += part.is_kept ? static_cast<int>(part.text.size()) + gap : 0;
  return width;
}

// Leaves out parts, by rank, until the rest is narrower than `room`; ranks below `always` stay.
void fit_into(std::vector<Part>& parts, int room, int always) {
  while (width_of(parts) > room) {
    const auto last = std::ranges::max_element(parts, {}, [](const Part& part) { return part.is_kept ? part.rank : -1; });
    if (last == parts.end() || !last->is_kept || last->rank < always) return;
    last->is_kept = false;
  }
}

std::string joined(const std::string& title, const std::vector<Part>& parts) {
  std::string line = title;
  for (const Part& part : parts) {
    if (part.is_kept) line += std::string(gap, ' ') + part.text;
  }
  return line;
}

}  // namespace

Terminal standard_output() {
  const bool is_there = isatty(STDOUT_FILENO) != 0 && variable("TERM") != "dumb";
  return {.is_there = is_there, .width = terminal_width(), .has_unicode = has_unicode(), .has_colour = variable("NO_COLOR").empty()};
}

std::string running_line(const EpochState& state, const Terminal& terminal) {
  std::vector<Part> parts;
  if (state.total) {
    const std::string all = fmt::to_string(*state.total), of_what = state.unit == "step" ? "" : fmt::format(" {}s", state.unit);
    parts.push_back({fmt::format("{:>{}}/{}{}", state.done, all.size(), all, of_what), 0});  // of one width: the bar does not jump
    const double each = state.seconds / static_cast<double>(std::max<int64_t>(state.done, 1));
    parts.push_back({duration(each * static_cast<double>(std::max<int64_t>(*state.total - state.done, 0))) + " left", 2});
  } else {
    parts.push_back({counted(state), 0});
  }
  parts.push_back({per_unit(state), 99});
  int rank = 1;
  for (const auto& [name, value] : state.scores.all()) {
    parts.push_back({score(name, value), rank});
    rank = std::max(rank + 1, 3);
  }
  const int room = terminal.width - 1 - static_cast<int>(state.title.size());
  fit_into(parts, room - (state.total ? least_bar + gap : 0), 0);
  const int left = room - width_of(parts) - gap;
  if (!state.total || left < least_bar) return joined(state.title, parts);
  const double share = static_cast<double>(state.done) / static_cast<double>(std::max<int64_t>(*state.total, 1));
  return joined(state.title + std::string(gap, ' ') + bar(share, std::min(left, most_bar), terminal), parts);
}

std::string final_line(const EpochState& state, const Terminal& terminal) {
  std::vector<Part> parts = {{counted(state), 3}, {duration(state.seconds), 1}, {per_unit(state), 2}};
  for (const auto& [name, value] : state.scores.all()) parts.push_back({score(name, value), 0});
  if (terminal.is_there) fit_into(parts, terminal.width - 1 - static_cast<int>(state.title.size()), 1);
  return joined(state.title, parts);
}

}  // namespace anyshape::model
