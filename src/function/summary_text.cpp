// Lines of a table: one for each kernel or loop as long as they fit a screen, else one for each layer, else one for each layer around those, else the
// costly ones of each phase and the rest together.
#include "function/summary_text.h"

#include "base/amounts.h"
#include "function/program_text.h"
#include "lower/count_work.h"
#include "runtime/peak_bytes.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>

namespace anyshape::function_detail {
namespace {

using lower::Item;
using lower::Phase;
using lower::Program;
using lower::Work;

constexpr size_t most_lines = 26;  // with heads and totals a screen of some thirty-five lines
constexpr size_t columns = 110;
constexpr std::array<std::string_view, 3> phase_names = {"forward", "gradient", "update"};

// An amount that may not be known: of a formula with a size that nobody gave.
struct Amount {
  std::optional<int64_t> value = 0;
  bool is_bound = false;

  Amount& operator+=(const Amount& other) {
    value = value && other.value ? std::optional(*value + *other.value) : std::nullopt;
    is_bound = is_bound || other.is_bound;
    return *this;
  }
  int64_t or_zero() const { return value.value_or(0); }
  std::string text(std::string (*unit)(int64_t)) const { return value ? (is_bound ? "<= " : "") + unit(*value) : "?"; }
};

struct Line {
  Phase phase = Phase::Forward;
  std::string owner;
  std::vector<size_t> kernels;  // by their numbers in the long form
  std::string kind;
  std::vector<std::string> ops;
  Amount flops, bytes;
  int64_t nanoseconds = 0;

  void add(const Line& other) {
    kernels.insert(kernels.end(), other.kernels.begin(), other.kernels.end());
    if (kind != other.kind) kind = "";
    ops.insert(ops.end(), other.ops.begin(), other.ops.end());
    flops += other.flops;
    bytes += other.bytes;
    nanoseconds += other.nanoseconds;
  }
  // To choose what is shown: measured, or by what a core does in the time that memory takes for a byte.
  int64_t cost() const { return nanoseconds > 0 ? nanoseconds : bytes.or_zero() + flops.or_zero() / 8; }
};

// "1-3, 7"
std::string ranges_text(std::vector<size_t> numbers) {
  std::ranges::sort(numbers);
  std::vector<std::string> parts;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    parts.push_back(end == i + 1 ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end - 1]));
    i = end;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

// Names without the numbers of values, each once, with how often it is there: "multiply x3, sum".
std::string ops_text(const std::vector<std::string>& labels) {
  std::vector<std::pair<std::string, int>> names;
  for (const std::string& label : labels) {
    const std::string name = label.substr(label.rfind(' ') + 1);
    const auto found = std::ranges::find(names, name, &std::pair<std::string, int>::first);
    if (found == names.end())
      names.emplace_back(name, 1);
    else
      ++found->second;
  }
  std::vector<std::string> texts;
  for (const auto& [name, count] : names) texts.push_back(count == 1 ? name : fmt::format("{} x{}", name, count));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// At most as wide; what is cut ends in dots.
std::string fitted(const std::string& text, size_t width) { return text.size() <= width ? text : text.substr(0, width - 3) + "..."; }

// Of "a/b/c, a/b/d", with paths that are cut before the last slash: "a/b".
std::string with_paths(std::string_view owners, const auto& end_of) {
  std::vector<std::string_view> paths;
  while (!owners.empty()) {
    const std::string_view whole = owners.substr(0, owners.find(", ")), path = whole.substr(0, end_of(whole));
    if (std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
    owners.remove_prefix(std::min(owners.size(), whole.size() + 2));
  }
  return fmt::format("{}", fmt::join(paths, ", "));
}

// Where the path's layer at a depth ends.
size_t end_at(std::string_view path, size_t depth) {
  size_t end = path.find('/');
  for (; depth > 1 && end != std::string_view::npos; --depth) end = path.find('/', end + 1);
  return end;
}

class Summary {
 public:
  Summary(const runtime::Executable& executable, Substitution known)
      : executable_(executable), program_(executable.program()), known_(std::move(known)) {
    for (auto late = program_.data_sizes.rbegin(); late != program_.data_sizes.rend(); ++late)
      bounds_[as_symbol(late->symbol)->id] = substitute(late->bound, known_);
  }

  std::string run() {
    for (const Item& item : program_.blocks[0].items) add(item);
    fit();
    write_totals();
    if (!lines_.empty()) write_table();
    return std::move(text_);
  }

 private:
  void add(const Item& item) {
    Line line;
    std::vector<Run> runs;
    collect(item, runs);
    line.kind = kind_of(program_, item);
    std::vector<std::string> owners;
    for (const Run& run : runs) {
      line.kernels.push_back(++kernels_);
      line.ops.insert(line.ops.end(), run.ops->begin(), run.ops->end());
      line.nanoseconds += executable_.times().of(run.time);
      if (line.kernels.size() == 1) line.phase = run.origin->phase;
      for (const std::string& owner : run.origin->owners) {
        if (std::ranges::find(owners, owner) == owners.end()) owners.push_back(owner);
      }
    }
    line.owner = fmt::format("{}", fmt::join(owners, ", "));
    try {
      const Work work = lower::count_item(program_, item);
      line.flops = amount(work.flops, work);
      line.bytes = amount(work.bytes_read + work.bytes_written, work);
    } catch (const ShapeError&) {  // a formula beyond what sizes can be
      line.flops.value = line.bytes.value = std::nullopt;
    }
    if (!runs.empty()) lines_.push_back(std::move(line));
  }

  // A launch, or a library call with its epilogue; `time` is its number among the times.
  struct Run {
    const std::vector<std::string>* ops;
    const lower::Origin* origin;
    size_t time;
  };

  // In the order of the long form.
  void collect(const Item& item, std::vector<Run>& runs) const {
    const auto collect_block = [&](int block) {
      for (const Item& each : program_.blocks[static_cast<size_t>(block)].items) collect(each, runs);
    };
    if (const auto* const number = std::get_if<int>(&item)) {
      const lower::Launch& launch = program_.launches[static_cast<size_t>(*number)];
      runs.push_back({&launch.ops, &launch.origin, static_cast<size_t>(*number)});
    }
    if (const auto* const library = std::get_if<lower::LibraryItem>(&item)) {
      const lower::LibraryCall& call = program_.library_calls[static_cast<size_t>(library->call)];
      runs.push_back({&call.ops, &call.origin, program_.launches.size() + static_cast<size_t>(library->call)});
    }
    if (const auto* const scan = std::get_if<lower::ScanItem>(&item)) collect_block(scan->body);
    if (const auto* const branch = std::get_if<lower::BranchItem>(&item)) collect_block(branch->then), collect_block(branch->otherwise);
    if (const auto* const loop = std::get_if<lower::WhileItem>(&item)) collect_block(loop->condition), collect_block(loop->body);
  }

  Amount amount(const Dim& formula, const Work& work) const {
    const Dim exact = substitute(formula, known_), most = substitute(exact, bounds_);
    if (work.depends_on_data || !most.is_constant()) return {.value = std::nullopt};
    return {.value = most.value(), .is_bound = work.is_bound || !exact.is_constant()};
  }

  void fit() {
    if (lines_.size() > most_lines) join_owners();
    if (lines_.size() > most_lines) {
      for (Line& line : lines_) {  // a layer for its variables
        if (line.phase == Phase::Update) line.owner = with_paths(line.owner, [](std::string_view path) { return path.rfind('/'); });
      }
      join_owners();
    }
    join_layers_inside();
    if (lines_.size() <= most_lines) return;
    for (size_t phase = 0; phase < phase_names.size(); ++phase) {
      std::vector<Line*> by_cost;
      for (Line& line : lines_) {
        if (static_cast<size_t>(line.phase) == phase) by_cost.push_back(&line);
      }
      std::ranges::sort(by_cost, {}, [](const Line* line) { return std::pair(-line->cost(), line->kernels[0]); });
      for (size_t i = most_lines / phase_names.size() - 1; i < by_cost.size(); ++i) by_cost[i]->owner = "others";
    }
    join_owners();
  }

  // Whether a part of a step is mostly one line: it says less than the costly ones of more lines.
  bool has_one_line() const {
    for (const Phase phase : {Phase::Forward, Phase::Gradient}) {
      int64_t most = 0, all = 0;
      for (const Line& line : lines_) {
        if (line.phase == phase) most = std::max(most, line.cost()), all += line.cost();
      }
      if (most > all / 2) return true;
    }
    return false;
  }

  // Layers that are inside others go with them, the deepest first, as long as that leaves something to be told apart.
  void join_layers_inside() {
    size_t depth = 0;
    for (const Line& line : lines_) depth = std::max(depth, static_cast<size_t>(std::ranges::count(line.owner, '/')));
    for (; depth > 0 && lines_.size() > most_lines; --depth) {
      std::vector<Line> before = lines_;
      for (Line& line : lines_) line.owner = with_paths(line.owner, [&](std::string_view path) { return end_at(path, depth); });
      join_owners();
      if (!has_one_line()) continue;
      lines_ = std::move(before);
      return;
    }
  }

  void join_owners() {
    const auto key = [](const Line& line) { return std::pair(line.phase, std::string_view(line.owner)); };
    std::vector<Line> joined;
    for (Line& line : lines_) {
      const auto same = std::ranges::find(joined, key(line), key);
      if (same == joined.end())
        joined.push_back(std::move(line));
      else
        same->add(line);
    }
    lines_ = std::move(joined);
  }

  void write_totals() {
    Amount flops, bytes;
    for (const Line& line : lines_) flops += line.flops, bytes += line.bytes, total_ns_ += line.nanoseconds;
    const runtime::Peak peak = runtime::peak_of(executable_);
    const Dim arena = substitute(substitute(peak.arena, known_), bounds_);
    const Dim results = substitute(substitute(peak.results, known_), bounds_);
    const auto memory = [](const Dim& size) { return size.is_constant() ? bytes_text(size.value()) : to_string(size) + " B"; };
    text_ += fmt::format("  {} kernel{}, {}, {} read and written; arena {}, results {}\n", kernels_, kernels_ == 1 ? "" : "s",
                         flops.text(flops_text), bytes.text(bytes_text), memory(arena), memory(results));
  }

  void write_table() {
    const bool has_owners = std::ranges::any_of(lines_, [](const Line& line) { return !line.owner.empty(); });
    size_t number_width = 8, owner_width = has_owners ? 5 : 0;
    for (const Line& line : lines_) {
      number_width = std::max(number_width, std::min<size_t>(ranges_text(line.kernels).size(), 12));
      owner_width = std::max(owner_width, std::min<size_t>(line.owner.size(), 30));
    }
    const auto write_line = [&](std::string_view number, std::string_view owner, std::string_view kind, std::string_view flops,
                                std::string_view bytes, std::string_view time, const std::string& ops) {
      std::string text = fmt::format("  {:>{}}  {:<{}}{}{:<7}  {:>13}  {:>12}  ", number, number_width, owner, owner_width,
                                     has_owners ? "  " : "", kind, flops, bytes);
      if (total_ns_ > 0) text += fmt::format("{:>6}  ", time);
      text += fitted(ops, columns - text.size());
      text.erase(text.find_last_not_of(' ') + 1);
      text_ += text + "\n";
    };
    text_ += "\n";
    write_line("kernel", has_owners ? "layer" : "", "kind", "FLOP", "bytes", "time", "ops");
    for (size_t phase = 0; phase < phase_names.size(); ++phase) {
      Line sum;
      for (const Line& line : lines_) {
        if (static_cast<size_t>(line.phase) == phase) sum.add(line);
      }
      if (sum.kernels.empty()) continue;
      if (sum.kernels.size() != kernels_) {
        write_line(phase_names[phase], "", "", sum.flops.text(flops_text), sum.bytes.text(bytes_text), share(sum), "");
      }
      for (const Line& line : lines_) {
        if (static_cast<size_t>(line.phase) != phase) continue;
        write_line(fitted(ranges_text(line.kernels), number_width), fitted(line.owner, owner_width), line.kind, line.flops.text(flops_text),
                   line.bytes.text(bytes_text), share(line), ops_text(line.ops));
      }
    }
  }
  std::string share(const Line& line) const {
    return total_ns_ == 0 ? "" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(line.nanoseconds) / static_cast<double>(total_ns_));
  }

  const runtime::Executable& executable_;
  const Program& program_;
  Substitution known_;   // what stands for a size
  Substitution bounds_;  // and the most that data-dependent sizes can be
  size_t kernels_ = 0;
  std::vector<Line> lines_;
  int64_t total_ns_ = 0;
  std::string text_;
};

}  // namespace

std::string summarize(const runtime::Executable& executable, const Substitution& known) { return Summary(executable, known).run(); }

}  // namespace anyshape::function_detail
