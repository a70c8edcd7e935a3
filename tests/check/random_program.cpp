// Drawing, running, checking, reducing and printing random programs.
#include "check/random_program.h"

#include <anyshape/error.h>
#include <anyshape/gradient.h>
#include <anyshape/ops.h>
#include <anyshape/verify.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace anyshape::check {
namespace {

using Values = std::vector<Tensor>;

constexpr std::array value_lists{&ProgramDraft::matrices, &ProgramDraft::rows, &ProgramDraft::columns, &ProgramDraft::scalars,
                                 &ProgramDraft::blocks};

// Arguments of matrices: two matrices, the weight, a row and a column; of blocks: two blocks, the weight and indices.
ProgramDraft start_with(const RandomProgram& program, std::span<const Tensor> arguments) {
  ProgramDraft draft;
  draft.count = arguments[0].shape()[0];
  draft.width = arguments[0].shape()[1];
  draft.weight = arguments[2];
  if (program.family == ProgramFamily::Blocks) {
    draft.blocks = {arguments[0], arguments[1]};
    draft.indices = arguments[3];
  } else {
    draft.matrices = {arguments[0], arguments[1]};
    draft.rows = {arguments[3]};
    draft.columns = {arguments[4]};
    draft.scalars = {sum(arguments[0]) * 0.01f};
  }
  return draft;
}

void run_step(const ProgramStep& step, ProgramDraft& draft) {
  draft.random = Random(step.seed);
  const Tensor result = step.kind->run(draft);
  (draft.*step.kind->result).push_back(draft.random.chance(33) ? bounded(result) : result);
}

Values outputs_of(const RandomProgram& program, ProgramDraft& draft) {
  draft.random = Random(program.seed);
  Values outputs{draft.pick(program.family == ProgramFamily::Blocks ? draft.blocks : draft.matrices)};
  for (const auto list : value_lists) {
    if (!(draft.*list).empty()) outputs.push_back((draft.*list).back());
  }
  return outputs;
}

Values floating_ones(std::span<const Tensor> tensors) {
  Values floating;
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() == f32) floating.push_back(tensor);
  }
  return floating;
}

std::vector<TensorSpec> signature_of(ProgramFamily family) {
  const Dim count = dim("count");
  if (family == ProgramFamily::Blocks) {
    const Shape block{count, block_width, block_width};
    return {spec(f32, block, "first"), spec(f32, block, "second"), spec(f32, {block_width, block_width}, "weight"),
            spec(i32, {5}, "indices")};
  }
  const Dim width = family == ProgramFamily::Matrices ? dim("width") : Dim(matrix_width);
  return {spec(f32, {count, width}, "first"), spec(f32, {count, width}, "second"), spec(f32, {width, width}, "weight"),
          spec(f32, {width}, "row"), spec(f32, {count, 1}, "column")};
}

Verification verify_matrices(const RandomProgram& program) {
  auto compiled = function([&](Tensor first, Tensor second, Tensor weight, Tensor row,
                               Tensor column) { return run_program(program, std::array{first, second, weight, row, column}); },
                           {.name = "random_matrices", .signature = signature_of(program.family)});
  std::vector<SizeRange> sizes{{.name = "count", .max = 40}};
  if (program.family == ProgramFamily::Matrices) sizes.push_back({.name = "width", .max = 40});
  return verify(compiled, sizes, {.count = 8, .relative = 1e-3, .absolute = 1e-3});
}

Verification verify_blocks(const RandomProgram& program) {
  auto compiled = function(
      [&](Tensor first, Tensor second, Tensor weight, Tensor indices) {
        Values results = run_program(program, std::array{first, second, weight, indices});
        for (Tensor& result : results) result = tanh(result * 0.05f);  // products of blocks and their gradients grow large
        return results;
      },
      {.name = "random_blocks", .signature = signature_of(program.family)});
  return verify(compiled, {{.name = "count", .max = 20}}, {.count = 6, .relative = 2e-3, .absolute = 2e-3});
}

}  // namespace

std::vector<const StepKind*> step_kinds(ProgramFamily family) {
  std::vector<const StepKind*> kinds;
  for (const StepKind& kind : family == ProgramFamily::Blocks ? block_steps() : matrix_steps()) {
    if (family != ProgramFamily::Matrices || !kind.needs_known_width) kinds.push_back(&kind);
  }
  return kinds;
}

RandomProgram draw_program(ProgramFamily family, uint64_t seed) {
  Random random(seed);
  RandomProgram program{.seed = seed, .family = family, .with_gradients = random.chance(67), .steps = {}};
  const std::vector<const StepKind*> kinds = step_kinds(family);
  for (int64_t count = random.between(2, 14); count > 0; --count) {
    const StepKind* const kind = random.pick(kinds);
    program.steps.push_back({kind, random.next()});
  }
  return program;
}

std::vector<Tensor> run_program(const RandomProgram& program, std::span<const Tensor> arguments) {
  const Values sources = floating_ones(arguments);
  GradientTape tape;
  for (const Tensor& source : sources) tape.watch(source);
  ProgramDraft draft = start_with(program, arguments);
  for (const ProgramStep& step : program.steps) run_step(step, draft);
  Values results = outputs_of(program, draft);
  if (!program.with_gradients) return results;
  Tensor total = 0.0f;
  for (const Tensor& output : results) total = total + sum(tanh(output));
  const Values gradients = tape.gradient(total, sources, {.unreached = Unreached::Zeros});
  results.insert(results.end(), gradients.begin(), gradients.end());
  results.push_back(total);
  return results;
}

std::string find_difference(const RandomProgram& program) {
  try {
    const Verification result = program.family == ProgramFamily::Blocks ? verify_blocks(program) : verify_matrices(program);
    return result && result.refused == 0 ? "" : to_string(result);
  } catch (const Error& error) {
    return std::string("thrown: ") + error.what();
  }
}

RandomProgram reduce_program(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails) {
  for (size_t i = program.steps.size(); i-- > 0;) {
    RandomProgram candidate = program;
    candidate.steps.erase(candidate.steps.begin() + static_cast<std::ptrdiff_t>(i));
    if (fails(candidate)) program = std::move(candidate);
  }
  return program;
}

std::string to_string(const RandomProgram& program) {
  std::vector<std::string> names;
  for (const ProgramStep& step : program.steps) names.push_back(step.kind->name);
  return fmt::format("seed {}{}: {}", program.seed, program.with_gradients ? " with gradients" : "", fmt::join(names, ", "));
}

}  // namespace anyshape::check
