// Graph text to program, and what the tests of lowering ask about it.
#pragma once
#include "graph/text.h"
#include "loop/text.h"
#include "loop/verify.h"
#include "lower/group.h"
#include "lower/lower.h"
#include "lower/map_cpu.h"
#include "ops/all_ops.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace anyshape::test {

// The numbers of the values that a graph's groups write to memory.
inline std::set<int> in_memory(const std::string& text) {
  const auto graph = graph::parse(text, find_op);
  std::set<int> ids;
  Decisions decisions;
  const lower::Groups groups = lower::group(*graph, decisions);
  for (const graph::Node* node : graph->nodes()) {
    for (const graph::Value* output : node->outputs) {
      if (groups.in_memory.contains(output)) ids.insert(output->id);
    }
  }
  return ids;
}

struct Lowered : lower::Program {
  Decisions decisions;
};
inline Lowered lowered(const std::string& text) {
  const auto graph = graph::parse(text, find_op);
  Decisions decisions;
  lower::Program program = lower::lower(*graph, decisions);
  lower::map_for_cpu(program, {});
  for (const lower::Launch& launch : program.launches) loop::verify(*launch.kernel);
  lower::plan_memory(program, decisions);
  return {std::move(program), std::move(decisions)};
}

// What a stage decided first, and why; empty: nothing.
inline std::string first_decision(const Lowered& program, std::string_view stage) {
  const auto found = std::ranges::find(program.decisions, stage, &Decision::stage);
  return found == program.decisions.end() ? "" : (found->yes ? "yes: " : "no: ") + found->reason;
}

// How often each kind of loop is written: "parallel", "vector", "for", "reduce", and "if" for versions.
inline std::map<std::string, int> loops(const loop::Block& block) {
  std::map<std::string, int> counts;
  const auto add = [&](const loop::Block& inner) {
    for (const auto& [name, count] : loops(inner)) counts[name] += count;
  };
  for (const loop::Instruction& instruction : block) {
    if (instruction.op == loop::Op::If) ++counts["if"];
    if (instruction.op == loop::Op::Reduce) ++counts["reduce"];
    if (instruction.op == loop::Op::For) {
      ++counts[instruction.kind == loop::LoopKind::Parallel ? "parallel" : instruction.kind == loop::LoopKind::Vector ? "vector" : "for"];
    }
    add(instruction.body);
    add(instruction.otherwise);
  }
  return counts;
}

// Of a graph that is one kernel.
inline std::map<std::string, int> loops_of(const std::string& text) {
  const lower::Program program = lowered(text);
  return program.launches.size() == 1 ? loops(program.launches[0].kernel->body)
                                      : std::map<std::string, int>{{"kernels", program.launches.size()}};
}

}  // namespace anyshape::test
