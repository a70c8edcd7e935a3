// A lowered graph: kernels in order, the buffers they work on, and sizes as expressions. What the runtime runs and the planner lays out.
#pragma once
#include "graph/graph.h"
#include "loop/ir.h"

#include <string>
#include <vector>

namespace anyshape::lower {

enum class BufferKind : uint8_t { Argument, Result, Temporary };

struct ProgramBuffer {
  BufferKind kind = BufferKind::Temporary;
  int argument = -1;  // Argument: which graph input
  Dtype dtype = Dtype::f32;
  Dim count;            // elements
  int first_step = -1;  // lifetime: first and last step that touch it
  int last_step = -1;
  int slot = -1;  // Temporary: where in the arena, by plan_memory
};

struct Step {
  loop::Kernel kernel;
  std::vector<int> buffers;  // program buffers, one per kernel buffer
  std::vector<Dim> dims;     // one per kernel dim
};

struct ProgramResult {
  int buffer = -1;
  TensorSpec spec;
};

// What a failing op number stands for in an error's text.
struct IndexedOp {
  int number = 0;
  std::string name;
  std::vector<Dim> limits;  // the index at position p obeys limit p % limits.size(); of row splits: where they end
};

struct Program {
  std::vector<ProgramBuffer> buffers;
  std::vector<Step> steps;
  std::vector<ProgramResult> results;
  std::vector<IndexedOp> indexed_ops;
  std::vector<Dim> slots;  // bytes of each arena slot, by plan_memory
  bool uses_random = false;
};

}  // namespace anyshape::lower
