// The calls that bytes decode to, and what may come of them.
#include "check/fuzz_bytes.h"
#include "check/fuzz_table.h"
#include "check/traced.h"

#include <anyshape/error.h>
#include <anyshape/gradient.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <ctime>

namespace anyshape::check {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The results, or the gradients of all floating ones together.
std::vector<Tensor> run_call(const FuzzCall& call, std::span<const Tensor> tensors, bool differentiate) {
  if (!differentiate) return call.run(tensors);
  GradientTape tape;
  std::vector<Tensor> sources;
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined() || !is_floating(tensor.dtype())) continue;
    tape.watch(tensor);
    sources.push_back(tensor);
  }
  Tensor total = 0.0;
  for (const Tensor& result : call.run(tensors)) {
    if (is_floating(result.dtype())) total = total + sum(cast(result, f64));
  }
  return tape.gradient(total, sources);
}

void run_decoded(const FuzzCall& call, bool trace, bool differentiate) {
  if (!trace) {
    run_call(call, call.tensors, differentiate);
    return;
  }
  Traced traced([&](std::span<const Tensor> tensors) { return run_call(call, tensors, differentiate); });
  traced(call.tensors);
}

}  // namespace

std::string run_fuzz_call(std::span<const uint8_t> bytes) {
  FuzzBytes source(bytes);
  const bool trace = source.chance(25), differentiate = source.chance(25);
  const FuzzOp& op = source.pick(fuzz_table());
  source.say(std::string(op.name) + (trace ? ", traced" : "") + (differentiate ? ", gradients:" : ":"));
  const double start = thread_seconds();
  std::string problem;
  try {
    run_decoded(op.decode(source), trace, differentiate);
  } catch (const InternalError& error) {
    problem = fmt::format("InternalError: {}", error.what());
  } catch (const Error&) {
    // A wrong call was refused: as it should be.
  } catch (const std::exception& error) {
    problem = fmt::format("{}: {}", typeid(error).name(), error.what());
  }
  const double seconds = thread_seconds() - start;
  if (seconds > 1) problem += fmt::format(" took {:.2f} s", seconds);
  return problem.empty() ? "" : fmt::format("{}\n  in: {}", problem, source.text());
}

}  // namespace anyshape::check
