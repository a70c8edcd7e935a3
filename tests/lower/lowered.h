// Graph text to program, and what the tests of lowering ask about it.
#pragma once
#include "graph/text.h"
#include "loop/text.h"
#include "lower/group.h"
#include "lower/lower.h"
#include "ops/all_ops.h"

#include <map>
#include <memory>
#include <set>
#include <string>

namespace anyshape::test {

// The numbers of the values that a graph's groups write to memory.
inline std::set<int> in_memory(const std::string& text) {
  const auto graph = graph::parse(text, find_op);
  std::set<int> ids;
  Decisions decisions;
  for (const graph::Value* value : lower::group(*graph, decisions).in_memory) ids.insert(value->id);
  return ids;
}

inline lower::Program lowered(const std::string& text) {
  const auto graph = graph::parse(text, find_op);
  Decisions decisions;
  lower::Program program = lower::lower(*graph, decisions);
  lower::plan_memory(program, decisions);
  program.decisions = std::move(decisions);
  return program;
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
  return program.steps.size() == 1 ? loops(program.steps[0].kernel.body) : std::map<std::string, int>{{"kernels", program.steps.size()}};
}

}  // namespace anyshape::test
