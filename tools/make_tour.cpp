// Prints docs/internals/tour.md: one call followed through every stage, with the texts that the stages themselves give. tools/make_tour runs it.
#include "codegen/jit.h"
#include "codegen/target.h"
#include "function/program_text.h"
#include "graph/text.h"
#include "loop/text.h"
#include "lower/lower.h"
#include "lower/map_cpu.h"
#include "ops/all_ops.h"
#include "passes/run_passes.h"
#include "runtime/cpu/externs.h"
#include "shape/evaluate.h"

#include <anyshape/function.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace as = anyshape;
using as::Tensor;

namespace {

auto followed() {
  // [what is followed
  const as::Dim batch = as::dim("batch");
  const Tensor kernel = as::ones({3, 512}), bias = as::zeros({512});

  auto score = as::function(
      [=](Tensor x) {
        const Tensor y = as::relu(as::matmul(x, kernel) + bias);
        return as::sum(y * y, {.axis = 1});
      },
      {.name = "score", .signature = {as::spec(as::f32, {batch, 3}, "x")}});
  // what is followed]
  return score;
}

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string text_of(Lines::const_iterator begin, Lines::const_iterator end) {
  std::string text;
  for (auto line = begin; line != end; ++line) text += *line + "\n";
  return text;
}

void say(const std::string& text) { std::fputs((text + "\n\n").c_str(), stdout); }

// A paragraph in lines of a page's width.
void tell(const std::string& paragraph) {
  constexpr size_t width = 140;
  std::string text, line;
  std::istringstream words(paragraph);
  for (std::string word; words >> word; line += (line.empty() ? "" : " ") + word) {
    if (line.size() + 1 + word.size() <= width) continue;
    text += line + "\n";
    line.clear();
  }
  say(text + line);
}

void show(const std::string& language, const std::string& text) { say("```" + language + "\n" + text + "```"); }

// The part of this file that a reader sees.
std::string followed_source() {
  std::ifstream file(ANYSHAPE_TOUR_SOURCE);
  std::stringstream text;
  text << file.rdbuf();
  const Lines lines = lines_of(text.str());
  const auto begin = std::ranges::find(lines, "  // [what is followed"), end = std::ranges::find(lines, "  // what is followed]");
  std::string shown;
  for (auto line = begin + 1; line != end; ++line) shown += (line->empty() ? "" : line->substr(2)) + "\n";
  return shown;
}

// What changed from one text to the next: lines that went with `-`, new ones with `+`, one line around them.
std::string difference(const std::string& before, const std::string& after) {
  const Lines a = lines_of(before), b = lines_of(after);
  std::vector<std::vector<size_t>> common(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = a.size(); i-- > 0;) {
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  }
  Lines marked;
  for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      marked.push_back(" " + a[i]);
      ++i, ++j;
    } else if (i < a.size() && (j == b.size() || common[i + 1][j] >= common[i][j + 1])) {
      marked.push_back("-" + a[i++]);
    } else {
      marked.push_back("+" + b[j++]);
    }
  }
  std::string text;
  for (size_t i = 0; i < marked.size(); ++i) {
    const auto is_changed = [&](size_t line) { return line < marked.size() && marked[line][0] != ' '; };
    if (is_changed(i) || is_changed(i + 1) || (i > 0 && is_changed(i - 1))) text += marked[i] + "\n";
  }
  return text;
}

// The basic block of generated code around the first line that matches `what`; nothing where none does.
std::string block_with(const std::string& text, const std::regex& what) {
  const Lines lines = lines_of(text);
  const auto found = std::ranges::find_if(lines, [&](const std::string& line) { return std::regex_search(line, what); });
  if (found == lines.end()) return "";
  const auto is_inside = [](const std::string& line) { return line.starts_with("  ") || line.starts_with("\t"); };
  auto begin = found, end = found;
  while (begin != lines.begin() && is_inside(*begin)) --begin;
  while (end != lines.end() && is_inside(*end) && !end->starts_with("\t.")) ++end;
  return text_of(begin, end);
}

void tell_trace(const std::string& traced) {
  say("## 1. A function");
  show("cpp", followed_source());
  tell("Nothing has happened yet. The lambda runs when the function is called for the first time:");
  show("cpp", "score(as::ones({2, 3}));\n");
  say("## 2. Trace");
  tell(
      "There is no trace yet. So the lambda runs once, on tensors that have a shape but no values. Every op checks its arguments and "
      "appends\n"
      "a node. The first size of `x` is not 2 but `batch`, because the signature says so. Tensors from outside become inputs.");
  show("text", traced);
}

// Runs the passes one after the other and gives the graph they leave.
void tell_passes(as::graph::Graph& graph, as::Decisions& decisions) {
  say("## 3. Passes");
  std::string names;
  for (const as::passes::Pass& pass : as::passes::all_passes()) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", pass.name);
  tell(
      fmt::format("Each pass is one function from graph to graph, and the graph is verified after it. In order: {}.\n"
                  "These passes find something to do here:",
                  names));
  for (const as::passes::Pass& pass : as::passes::all_passes()) {
    const std::string before = as::graph::print(graph);
    pass.run(graph, decisions);
    const std::string after = as::graph::print(graph);
    if (before == after) continue;
    say(fmt::format("`{}`", pass.name));
    show("diff", difference(before, after));
  }
}

void tell_kernels(const as::lower::Program& program, const as::Decisions& decisions, const as::loop::Kernel& neutral) {
  say("## 4. Groups");
  tell(
      "Ops that loop over the same elements become one kernel, and values that only this kernel needs never go to memory. Each decision "
      "has a\n"
      "reason. `score.explain({.detail = Detail::Full})` prints this text. It knows the work and the memory of every kernel as formulas, "
      "before\n"
      "anything has run:");
  as::Dim arena = 0;
  for (const as::Dim& slot : program.blocks[0].slots) arena = arena + slot;
  show("text", as::function_detail::explain_program(program, {.decisions = decisions, .passes = {}}, arena, {}));
  say("## 5. Loops");
  tell(
      "Each group becomes a program of loops over linear buffers. Loop bounds are kernel parameters (`d0`), so another size needs no new "
      "code.\n"
      "A slow and obvious interpreter defines what these programs mean. Tests compare machine code with it bit by bit.");
  tell(
      "As it is lowered, a kernel says which iterations are independent and how much work each is. It says nothing of tasks and vectors. "
      "The\n"
      "last kernel:");
  show("text", as::loop::print(neutral));
  tell("`map_for_cpu` cuts these loops for the target: tasks of the pool with enough work each, and vectors. All kernels, as they run:");
  for (const as::lower::Launch& launch : program.launches) show("text", as::loop::print(*launch.kernel));
  tell("The parameters are sizes of the trace; a kernel that follows a product has the bounds of a block of its result before them:");
  std::string table = "| kernel | parameters | buffers |\n|---|---|---|\n";
  for (size_t i = 0; i < program.launches.size(); ++i) {
    const as::lower::Launch& launch = program.launches[i];
    std::string dims, buffers;
    for (size_t k = 0; k < launch.dims.size(); ++k)
      dims += fmt::format("{}{} = {}", dims.empty() ? "" : ", ", launch.kernel->dims[k], to_string(launch.dims[k]));
    for (size_t k = 0; k < launch.buffers.size(); ++k)
      buffers += fmt::format("{}{} = buffer {}", buffers.empty() ? "" : ", ", launch.kernel->buffers[k].name, launch.buffers[k]);
    table += fmt::format("| {} | {} | {} |\n", i + 1, dims, buffers);
  }
  say(table.substr(0, table.size() - 1));
  if (program.library_calls.empty()) return;
  tell(
      "What a library does better than loops is no kernel but an item of the program, plain data in the same formulas. How it is cut into "
      "tasks\n"
      "is the library's own; it runs the kernel that follows on each block that it has just written:");
  table = "| library | buffers | followed by |\n|---|---|---|\n";
  for (const as::lower::LibraryCall& call : program.library_calls) {
    std::vector<int> buffers = call.inputs;
    buffers.insert(buffers.end(), call.outputs.begin(), call.outputs.end());
    buffers.insert(buffers.end(), call.scratch.begin(), call.scratch.end());
    const std::string followed = call.epilogue < 0 ? "" : program.launches[static_cast<size_t>(call.epilogue)].kernel->name;
    table += fmt::format("| {} | {} | {} |\n", to_string(call.work), fmt::join(buffers, ", "), followed);
  }
  say(table.substr(0, table.size() - 1));
}

void tell_memory(const as::lower::Program& program, const as::graph::Graph& graph) {
  const as::Dim symbol = graph.inputs()[0]->spec.shape[0];
  say("## 6. Memory");
  tell(
      "The sizes of buffers are formulas in the same symbols. Buffers that are needed only inside a call get slots of one arena. Two that "
      "are\n"
      "never needed together share a slot as large as the larger of them. A call evaluates the formulas with straight-line code, without "
      "allocating:");
  const auto at = [&](const as::Dim& dim, int64_t value) {
    as::Bindings bindings;
    bindings.set(symbol, value);
    return as::evaluate(dim, bindings);
  };
  std::string table = "| buffer | what | bytes | at batch = 2 | at batch = 1000 |\n|---|---|---|---|---|\n";
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const as::lower::ProgramBuffer& buffer = program.buffers[i];
    const as::Dim bytes = buffer.count * as::size_of(buffer.dtype);
    std::string what = "result";
    if (buffer.kind == as::lower::BufferKind::Argument) what = "input " + graph.inputs()[static_cast<size_t>(buffer.argument)]->spec.name;
    if (buffer.kind == as::lower::BufferKind::Temporary) what = fmt::format("slot {} of the arena", buffer.slot);
    table += fmt::format("| {} | {} | {} | {} | {} |\n", i, what, to_string(bytes), at(bytes, 2), at(bytes, 1000));
  }
  say(table.substr(0, table.size() - 1));
}

void tell_code(const as::lower::Program& program) {
  const as::loop::Target target = as::codegen::target_for("x86-64-v3");
  say("## 7. Machine code");
  tell("LLVM gets one body per loop, in which vectors are already explicit. This page shows code for x86-64-v3, which has AVX2.");
  for (size_t i = program.launches.size(); i-- > 0;) {
    const as::loop::Kernel& kernel = *program.launches[i].kernel;
    const std::string llvm = block_with(as::codegen::dump_llvm(kernel, as::runtime::find_extern, target), std::regex("load <.* x float>"));
    if (llvm.empty()) continue;
    tell(fmt::format("The inner loop of kernel {} (`{}`):", i + 1, kernel.name));
    show("llvm", llvm);
    tell("and the assembly of it:");
    show("asm", block_with(as::codegen::dump_assembly(kernel, as::runtime::find_extern, target), std::regex(R"(vmovups\s.*\), %ymm)")));
    break;
  }
  tell(
      "All kernels of a function are compiled in parallel, kept on disk, and shared with all functions that have an equal kernel. A "
      "product "
      "of matrices calls oneDNN; a rule that sees sizes only cuts it into tiles. With `ANYSHAPE_DUMP=folder` any program writes its graphs "
      "after every pass and its loop programs to files.");
}

void tell_call(const as::Function<Tensor(Tensor)>& score) {
  say("## 8. Run");
  const Tensor first = score(as::ones({2, 3})), second = score(as::ones({4, 3}));
  tell(
      "Now the first call runs its kernels. A later call with any `batch` finds the trace by comparing integers, evaluates the sizes of "
      "section 6,\n"
      "lays out the arena, and calls the kernels in order:");
  show("cpp", "score(as::ones({4, 3}));\n");
  show("text", to_string(second) + "\n");
  const as::FunctionStats stats = score.stats();
  tell(fmt::format("Two calls, {} hit, {} trace, {} compile. `score.report()` says which call made which trace, and why.", stats.hits,
                   stats.traces, stats.compiles));
}

}  // namespace

int main() {
  try {
    say("<!-- Made by tools/make_tour from tools/make_tour.cpp; `tools/make_tour --check` compares. -->\n# A tour: one call through every "
        "stage");
    tell(
        "A C++ lambda goes in, and machine code for every size comes out. This page follows one small function through all stages. The "
        "stages\n"
        "themselves print the texts that it shows.");
    auto score = followed();
    score(as::ones({2, 3}));
    const std::string traced = score.traces().at(0).graph;
    score.clear();
    tell_trace(traced);
    const auto graph = as::graph::parse(traced, as::find_op);
    as::Decisions decisions;
    tell_passes(*graph, decisions);
    as::lower::Program program = as::lower::lower(*graph, decisions);
    const std::shared_ptr<const as::loop::Kernel> neutral = program.launches.back().kernel;
    as::lower::map_for_cpu(program, {});
    as::lower::plan_memory(program, decisions);
    tell_kernels(program, decisions, *neutral);
    tell_memory(program, *graph);
    tell_code(program);
    tell_call(score);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_tour: %s\n", error.what());
    return 1;
  }
}
