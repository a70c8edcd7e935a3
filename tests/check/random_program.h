// Random programs: long chains of steps on a few shapes, drawn from a seed and checked by verify(). Where random graphs are broad (every op,
// axes that broadcast), these are deep: products, reductions over several axes, slices, loops and gradients share one function.
#pragma once
#include "check/program_steps.h"

#include <functional>
#include <span>

namespace anyshape::check {

enum class ProgramFamily { Matrices, MatricesOfKnownWidth, Blocks };

struct ProgramStep {
  const StepKind* kind = nullptr;
  uint64_t seed = 0;  // of its choices: a step does the same without those before it, on the values that are then there
};

struct RandomProgram {
  uint64_t seed = 0;
  ProgramFamily family = ProgramFamily::Matrices;
  bool with_gradients = true;
  std::vector<ProgramStep> steps;
};

// The kinds of step that programs of a family are made of.
std::vector<const StepKind*> step_kinds(ProgramFamily family);

RandomProgram draw_program(ProgramFamily family, uint64_t seed);

// The last value of each shape and one more; with gradients also those of their sum by the floating arguments.
std::vector<Tensor> run_program(const RandomProgram& program, std::span<const Tensor> arguments);

// How the program compiled differs from the program op by op, or what it throws; empty where all agrees.
std::string find_difference(const RandomProgram& program);

// The program with only those steps without which it does not fail.
RandomProgram reduce_program(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails);

std::string to_string(const RandomProgram& program);  // its seed and the names of its steps

}  // namespace anyshape::check
