// Lines of at most 100 columns, indented by two for each block of control flow.
#include "function/program_text.h"

#include "base/amounts.h"
#include "loop/any_instruction.h"
#include "lower/count_work.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace anyshape::function_detail {
namespace {

using lower::Program;
using lower::Work;

constexpr size_t columns = 100;

std::string counted(size_t count, std::string_view what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

// Words after `head`, as many to a line as fit; later lines are indented as far as the first is long.
std::string wrapped(std::string head, const std::vector<std::string>& words) {
  const std::string indent(head.size(), ' ');
  std::string text, line = std::move(head);
  for (const std::string& word : words) {
    const bool is_first = line.size() == indent.size();
    if (!is_first && line.size() + 1 + word.size() > columns) {
      text += line + "\n";
      line = indent + word;
    } else {
      line += (is_first ? "" : " ") + word;
    }
  }
  return text + line + "\n";
}

// Where the next sum of a formula begins, outside of parentheses.
size_t next_sum(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i + 2 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0 && i > 0 && text.substr(i, 3) == " + ") return i;
  }
  return std::string_view::npos;
}

// Words: a line may end behind a list's commas, and before the sums of a formula.
std::vector<std::string> listed(const std::vector<std::string>& items, std::string_view separator) {
  std::vector<std::string> words;
  for (size_t i = 0; i < items.size(); ++i) {
    std::string rest = items[i] + std::string(i + 1 < items.size() ? separator : "");
    for (size_t sum = next_sum(rest); sum != std::string::npos; sum = next_sum(rest)) {
      words.push_back(rest.substr(0, sum));
      rest = rest.substr(sum + 1);
    }
    words.push_back(std::move(rest));
  }
  return words;
}

class Text {
 public:
  Text(const Program& program, const CompileReport& report, const Dim& arena, Substitution known)
      : program_(program), report_(report), arena_(arena), known_(std::move(known)) {
    for (const lower::Block& block : program.blocks) {
      for (const lower::Item& item : block.items) join_rows(item);
    }
  }

  std::string run() {
    add_summary();
    if (lower::count_runs(program_) > 0) text_ += "\n";
    add_block(0, 4);
    add_passes();
    add_decisions();
    return std::move(text_);
  }

 private:
  // Rows of a scan that run apart in blocks are shown as one: a time step is what all of them do.
  void join_rows(const lower::Item& item) {
    const auto* const scan = std::get_if<lower::ScanItem>(&item);
    const bool is_split = scan != nullptr && scan->has_rows() && scan->rows.counts < 0;
    if (is_split) known_[as_symbol(scan->rows.active)->id] = known(scan->rows.count);
  }

  Dim known(const Dim& size) const { return substitute(size, known_); }
  std::string flops(const Work& work) const {
    const Dim amount = known(work.flops);
    std::string text = amount.is_constant() ? flops_text(amount.value()) : to_string(amount) + " FLOP";
    if (work.depends_on_data) return amount.same_as(0) ? "FLOP that depend on the data" : text + " and what depends on the data";
    return work.is_bound ? "at most " + text : text;
  }
  std::string bytes(const Dim& formula) const {
    const Dim amount = known(formula);
    return amount.is_constant() ? bytes_text(amount.value()) : to_string(amount) + " B";
  }
  std::vector<std::string> work_texts(const Work& work) const {
    std::vector<std::string> texts;
    const bool is_moved = !work.bytes_read.same_as(0) || !work.bytes_written.same_as(0);
    if (!work.flops.same_as(0) || work.depends_on_data || !is_moved) texts.push_back(flops(work));
    if (!work.bytes_read.same_as(0)) texts.push_back("read " + bytes(work.bytes_read));
    if (!work.bytes_written.same_as(0)) texts.push_back("write " + bytes(work.bytes_written));
    return texts;
  }
  // ShapeError: a formula beyond what sizes can be.
  std::vector<std::string> work_texts(const std::function<Work()>& count) const {
    try {
      return work_texts(count());
    } catch (const ShapeError&) {
      return {"work by formulas too long to show"};
    }
  }

  void add_summary() {
    std::string head = fmt::format("  {}   ", counted(lower::count_runs(program_), "kernel"));
    std::vector<std::string> lines = work_texts([&] { return lower::count_block(program_, 0); });
    lines.push_back("arena " + bytes(arena_));
    for (const std::string& line : lines) {
      text_ += wrapped(head, listed({line}, ""));
      head.assign(head.size(), ' ');
    }
  }

  void add_block(int block, size_t indent) {
    for (const lower::Item& item : program_.blocks[static_cast<size_t>(block)].items) {
      std::visit([&](const auto& each) { add_item(each, indent); }, item);
    }
  }
  void add_item(int number, size_t indent) { add_run(number, program_.launches[static_cast<size_t>(number)].ops, indent); }
  void add_item(const lower::LibraryItem& item, size_t indent) {
    add_run(item, program_.library_calls[static_cast<size_t>(item.call)].ops, indent);
  }
  void add_run(const lower::Item& item, const std::vector<std::string>& ops, size_t indent) {
    const std::string head = fmt::format("{:>{}}  {:<8}  ", ++kernels_, indent, kind_of(program_, item));
    text_ += wrapped(head, listed(ops, ","));
    const std::vector<std::string> work = work_texts([&] { return lower::count_item(program_, item); });
    text_ += wrapped(std::string(head.size(), ' '), listed(work, ";"));
  }
  void add_item(const lower::ScanItem& item, size_t indent) {
    add_heading(indent, "scan", fmt::format("{} times{}", to_string(known(item.length)), item.reverse ? ", from the end" : ""));
    add_block(item.body, indent + 2);
  }
  void add_item(const lower::BranchItem& item, size_t indent) {
    add_heading(indent, "cond", "where true");
    add_block(item.then, indent + 2);
    add_heading(indent, "", "else");
    add_block(item.otherwise, indent + 2);
  }
  void add_item(const lower::WhileItem& item, size_t indent) {
    add_heading(indent, "while", item.most < 0 ? "as long as" : fmt::format("at most {} times, as long as", item.most));
    add_block(item.condition, indent + 2);
    add_heading(indent, "", "do");
    add_block(item.body, indent + 2);
  }
  void add_heading(size_t indent, std::string_view what, const std::string& how) {
    text_ += fmt::format("{:{}}  {:<8}  {}\n", "", indent, what, how);
  }

  // Those that found something; the others together.
  void add_passes() {
    if (report_.passes.empty()) return;
    const auto is_idle = [](const passes::PassReport& pass) { return pass.rewrites == 0 && pass.nodes_before == pass.nodes_after; };
    text_ += "\n  passes\n";
    size_t idle = 0;
    int64_t idle_time = 0;
    for (const passes::PassReport& pass : report_.passes) {
      if (is_idle(pass)) {
        ++idle;
        idle_time += pass.microseconds;
        continue;
      }
      const bool is_same = pass.nodes_after == pass.nodes_before;
      const std::string before = is_same ? "" : fmt::format("{} -> ", pass.nodes_before);
      text_ += fmt::format("    {:<20} {:>6} us  {}{}  {}\n", pass.name, pass.microseconds, before, counted(pass.nodes_after, "node"),
                           counted(pass.rewrites, "rewrite"));
    }
    if (idle > 0) text_ += fmt::format("    {:<20} {:>6} us\n", fmt::format("{} found nothing", idle), idle_time);
  }

  // By stage; subjects of one answer and reason together.
  void add_decisions() {
    std::vector<std::string_view> stages;
    for (const Decision& decision : report_.decisions) {
      if (std::ranges::find(stages, decision.stage) == stages.end()) stages.push_back(decision.stage);
    }
    if (!stages.empty()) text_ += "\n  decisions\n";
    for (const std::string_view stage : stages) add_stage(stage);
  }
  void add_stage(std::string_view stage) {
    std::vector<const Decision*> first;  // of each answer and reason
    for (const Decision& decision : report_.decisions) {
      const auto is_same = [&](const Decision* other) { return other->yes == decision.yes && other->reason == decision.reason; };
      if (decision.stage == stage && std::ranges::none_of(first, is_same)) first.push_back(&decision);
    }
    text_ += fmt::format("    {}\n", stage);
    for (const Decision* answer : first) {
      std::vector<std::string> subjects;
      for (const Decision& decision : report_.decisions) {
        if (decision.stage == stage && decision.yes == answer->yes && decision.reason == answer->reason)
          subjects.push_back(decision.subject);
      }
      std::vector<std::string> words = listed(subjects, ",");
      words.back() += ":";
      words.push_back(answer->reason);
      text_ += wrapped(fmt::format("      {:<3}  ", answer->yes ? "yes" : "no"), words);
    }
  }

  const Program& program_;
  const CompileReport& report_;
  const Dim& arena_;
  Substitution known_;  // what stands for a size
  int kernels_ = 0;
  std::string text_;
};

}  // namespace

std::string_view kind_of(const Program& program, const lower::Item& item) {
  const auto has = [&](int launch, bool (*is_wanted)(const loop::Instruction&)) {
    return loop::any_instruction(program.launches[static_cast<size_t>(launch)].kernel->body, is_wanted);
  };
  if (const auto* const library = std::get_if<lower::LibraryItem>(&item)) {
    const lower::LibraryCall& call = program.library_calls[static_cast<size_t>(library->call)];
    if (std::holds_alternative<SortWork>(call.work)) return "sort";
    const int epilogue = call.epilogue;
    const char* const alone = std::holds_alternative<ConvolutionWork>(call.work) ? "convolution" : "product";
    return epilogue >= 0 && has(epilogue, lower::is_arithmetic) ? "mixed" : alone;
  }
  if (std::holds_alternative<lower::ScanItem>(item)) return "scan";
  if (std::holds_alternative<lower::WhileItem>(item)) return "while";
  if (std::holds_alternative<lower::BranchItem>(item)) return "cond";
  const int launch = std::get<int>(item);
  if (!has(launch, lower::is_product)) return "loop";
  return has(launch, lower::is_arithmetic) ? "mixed" : "product";
}

std::string explain_program(const Program& program, const CompileReport& report, const Dim& arena, const Substitution& known) {
  return Text(program, report, arena, known).run();
}

}  // namespace anyshape::function_detail
