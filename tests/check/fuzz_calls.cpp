// The calls that bytes decode to, and what may come of them.
#include "check/fuzz_calls.h"

#include <anyshape/error.h>
#include <anyshape/gradient.h>
#include <anyshape/kernel_cache.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

namespace anyshape::check {
namespace {

constexpr double most_seconds = 1;

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

}  // namespace

void FuzzKind::run_decoded(const FuzzCall& call, bool trace, bool differentiate) {
  if (!trace) {
    run_call(call, call.tensors, differentiate);
    return;
  }
  if (!traced_) {
    traced_.emplace([call, differentiate](std::span<const Tensor> tensors) { return run_call(call, tensors, differentiate); },
                    FunctionOptions{.name = "fuzz", .retrace = Retrace::Allow, .check_frozen = false});
  }
  (*traced_)(call.tensors);
}

FuzzKind::Outcome FuzzKind::run_once(std::span<const uint8_t> values) {
  FuzzBytes source(kind_, values);
  const bool trace = source.chance(25), differentiate = source.chance(25);
  const FuzzOp* op = source.chance(50) ? &source.pick(fuzz_table()) : nullptr;
  source.say(std::string(op != nullptr ? op->name : "sample") + (trace ? ", traced" : "") + (differentiate ? ", gradients:" : ":"));
  const double start = thread_seconds();
  std::string problem;
  try {
    run_decoded(op != nullptr ? op->decode(source) : decode_sample(source), trace, differentiate);
  } catch (const InternalError& error) {
    problem = fmt::format("InternalError: {}", error.what());
  } catch (const Error&) {
    // A wrong call was refused: as it should be.
  } catch (const std::exception& error) {
    problem = fmt::format("{}: {}", typeid(error).name(), error.what());
  }
  return {.problem = problem, .call = source.text(), .seconds = thread_seconds() - start};
}

std::string FuzzKind::run(std::span<const uint8_t> values) {
  Outcome outcome = run_once(values);
  // A busy machine makes a call slow, but not every time: the best of several counts, and each traces and compiles anew.
  for (int again = 0; again < 5 && outcome.seconds > most_seconds && outcome.seconds < 10 * most_seconds; ++again) {
    set_kernel_cache({.enabled = false});
    traced_.reset();
    outcome.seconds = std::min(outcome.seconds, FuzzKind(kind_).run_once(values).seconds);
  }
  if (outcome.seconds > most_seconds) outcome.problem += fmt::format(" took {:.2f} s", outcome.seconds);
  return outcome.problem.empty() ? "" : fmt::format("{}\n  in: {}", outcome.problem, outcome.call);
}

std::string run_fuzz_call(const FuzzInput& input) { return FuzzKind(input.kind).run(input.values); }

FuzzInput reduce_input(FuzzInput input, const std::function<bool(const FuzzInput&)>& fails) {
  const auto try_all = [&](std::vector<uint8_t> FuzzInput::* part) {
    // Whatever is left away counts as zeros; then every byte that can be one becomes zero.
    for (size_t length = 0; length < (input.*part).size(); ++length) {
      FuzzInput candidate = input;
      (candidate.*part).resize(length);
      if (!fails(candidate)) continue;
      input = std::move(candidate);
      break;
    }
    for (size_t i = 0; i < (input.*part).size(); ++i) {
      if ((input.*part)[i] == 0) continue;
      FuzzInput candidate = input;
      (candidate.*part)[i] = 0;
      if (fails(candidate)) input = std::move(candidate);
    }
  };
  try_all(&FuzzInput::values);
  try_all(&FuzzInput::kind);
  return input;
}

std::string to_hex(const FuzzInput& input) { return fmt::format("{:02x}:{:02x}", fmt::join(input.kind, ""), fmt::join(input.values, "")); }

FuzzInput from_hex(std::string_view text) {
  const auto bytes = [](std::string_view hex) {
    std::vector<uint8_t> result;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
      result.push_back(static_cast<uint8_t>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
    return result;
  };
  const size_t middle = std::min(text.find(':'), text.size());
  return {bytes(text.substr(0, middle)), bytes(text.substr(std::min(middle + 1, text.size())))};
}

}  // namespace anyshape::check
