// verify(): the same arguments through the compiled trace and through the callable op by op.
#include "base/no_fork.h"
#include "function/activation.h"
#include "function/function_state.h"
#include "function/sample_sizes.h"
#include "tensor/system_memory.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/verify.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace anyshape {
namespace {

using function_detail::Signature;

// What a way of running gave: results and new values of variables, or an error.
struct Outcome {
  std::vector<Tensor> results, variables;
  std::string error;
};

// Where two tensors differ, in words; nothing where they do not.
std::optional<std::string> difference(const Tensor& compiled, const Tensor& eager, const VerifyOptions& options) {
  if (describe(compiled) != describe(eager)) return fmt::format("is {} compiled and {} op by op", describe(compiled), describe(eager));
  if (!is_floating(compiled.dtype()) && all_equal(compiled, eager)) return {};
  const std::vector<double> a = cast(compiled, f64).to_vector<double>(), b = cast(eager, f64).to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (is_floating(compiled.dtype()) && std::abs(a[i] - b[i]) <= options.absolute + options.relative * std::abs(b[i])) continue;
    return fmt::format("is {}, and its element {} is {} compiled and {} op by op", describe(compiled), i, a[i], b[i]);
  }
  return {};
}

std::optional<std::string> difference(const Outcome& compiled, const Outcome& eager, const VerifyOptions& options) {
  if (compiled.error.empty() != eager.error.empty()) {
    return compiled.error.empty() ? fmt::format("runs compiled, but op by op it throws: {}", eager.error)
                                  : fmt::format("runs op by op, but compiled it throws: {}", compiled.error);
  }
  if (!compiled.error.empty()) return {};
  if (compiled.results.size() != eager.results.size())
    return fmt::format("gives {} results compiled and {} op by op", compiled.results.size(), eager.results.size());
  for (size_t i = 0; i < compiled.results.size(); ++i) {
    if (auto found = difference(compiled.results[i], eager.results[i], options)) return fmt::format("result {} {}", i, *found);
  }
  for (size_t i = 0; i < compiled.variables.size(); ++i) {
    if (auto found = difference(compiled.variables[i], eager.variables[i], options)) return fmt::format("variable {} {}", i, *found);
  }
  return {};
}

// Arguments of other sizes, made of the elements of some tensors.
class ArgumentMaker {
 public:
  ArgumentMaker(const Signature& signature, std::span<const Tensor> examples) {
    for (size_t i = 0; i < signature.specs().size(); ++i) {
      const Dtype dtype = examples.empty() ? signature.specs()[i].dtype : examples[i].dtype();
      const bool has_elements = !examples.empty() && examples[i].shape().count().value() > 0;
      elements_.push_back(has_elements ? reshape(examples[i], {-1}) : default_elements(dtype));
    }
  }

  std::vector<Tensor> make(const Signature& signature, std::span<const int64_t> sizes, uint64_t seed) const {
    std::mt19937_64 random(seed);
    const Bindings bindings = signature.bindings(sizes);
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < elements_.size(); ++i) {
      Shape shape;
      for (const Dim& size : signature.specs()[i].shape) shape.push_back(evaluate(size, bindings));
      require_room(signature, sizes, {elements_[i].dtype(), shape, signature.specs()[i].name});
      std::vector<int64_t> indices(static_cast<size_t>(shape.count().value()));
      const auto count = static_cast<uint64_t>(elements_[i].shape()[0].value());
      for (int64_t& index : indices) index = static_cast<int64_t>(random() % count);
      arguments.push_back(take(elements_[i], tensor(indices, shape)));
    }
    return arguments;
  }

 private:
  // Beside the elements there are the offsets that they are taken from.
  static void require_room(const Signature& signature, std::span<const int64_t> sizes, const TensorSpec& argument) {
    int64_t bytes = size_of(argument.dtype) + static_cast<int64_t>(sizeof(int64_t));
    const int64_t most = physical_memory() > 0 ? physical_memory() / 4 : int64_t{4} << 30;
    const bool is_empty = std::ranges::any_of(argument.shape, [](const Dim& size) { return size.value() == 0; });
    bool fits = true;
    for (const Dim& size : argument.shape) fits = fits && !__builtin_mul_overflow(bytes, size.value(), &bytes) && bytes <= most;
    if (fits || is_empty) return;
    std::string tried;
    for (size_t i = 0; i < sizes.size(); ++i)
      tried += fmt::format("{}{} = {}", tried.empty() ? "" : ", ", to_string(signature.symbols()[i]), sizes[i]);
    throw ArgumentError(fmt::format(
        "verify: at {} an argument would be {}, which takes more than the {} bytes that one may have here; expected ranges whose "
        "largest sizes fit in memory. Give a smaller .max.",
        tried, argument.name.empty() ? to_string(argument) : argument.name + ": " + to_string(argument), most));
  }

  static Tensor default_elements(Dtype dtype) {
    if (!is_floating(dtype)) return cast(tensor({0, 1, 2, 3}), dtype);
    std::vector<double> values;
    for (int i = 0; i < 64; ++i) values.push_back(std::sin(i * 1.7) * 2);
    return cast(tensor(values, {64}), dtype);
  }
  std::vector<Tensor> elements_;
};

// For each size the first one that it changes together with: without a declaration, equal sizes of the examples belong together.
std::vector<size_t> sizes_together(const Signature& signature, bool is_declared, std::span<const Tensor> examples) {
  std::vector<size_t> together(signature.symbols().size());
  std::iota(together.begin(), together.end(), size_t{0});
  if (is_declared) return together;
  std::vector<int64_t> values;
  signature.bind(examples, values);
  for (size_t i = 0; i < values.size(); ++i) together[i] = static_cast<size_t>(std::ranges::find(values, values[i]) - values.begin());
  return together;
}

}  // namespace

// Random sizes before those at the ends of the ranges, which more ops refuse.
void FunctionCore::State::trace_by_signature(const FunctionCall& call) {
  constexpr int64_t first = 8, tries = 16;
  const ArgumentMaker maker(*declared, {});
  function_detail::SizeSampler sampler(*declared, sizes_together(*declared, true, {}), {}, 0);
  for (int64_t tried = 0;; ++tried) {
    try {
      const std::vector<Tensor> arguments = maker.make(*declared, sampler.sizes((first + tried) % tries), 0);
      std::vector<int64_t> values;
      find_or_make(arguments, call.key(), call, values, false);
      return;
    } catch (const ShapeError&) {
      if (tried + 1 == tries) throw;
    }
  }
}

Verification FunctionCore::verify(std::vector<Tensor> examples, const std::string& key, const FunctionCall& call,
                                  const std::vector<SizeRange>& ranges, const VerifyOptions& options) {
  State& state = *state_;
  function_detail::Activation::require_none(&state, state.options.name);
  if (!state.declared && examples.empty() && !call.describe().tensors.empty()) {
    throw ArgumentError(fmt::format(
        "verify: function \"{}\" has no signature; expected one, or examples of the arguments after the options: verify(f, {{}}, {{}}, x).",
        state.options.name));
  }
  if (!examples.empty()) state.accept_arguments(examples, call, cast);
  const Signature signature = state.declared ? *state.declared : Signature::open(examples, call.describe().tensors);
  const ArgumentMaker maker(signature, examples);
  function_detail::SizeSampler sampler(signature, sizes_together(signature, state.declared.has_value(), examples), ranges, options.seed);
  Verification verification;

  // What differs at these sizes. Both ways start from the same variables and random numbers, and leave the variables as they were.
  const auto differs_at = [&](const std::vector<int64_t>& sizes) -> std::optional<std::string> {
    const std::vector<Tensor> arguments = maker.make(signature, sizes, options.seed);
    const runtime::RandomState random{.key = static_cast<int64_t>(options.seed), .counter = verification.tried++ << 16};
    std::vector<int64_t> values;
    State::Entry entry;
    Outcome compiled, eager;
    try {
      entry = state.find_or_make(arguments, key, call, values, false).first;
    } catch (const Error& error) {
      compiled.error = error.what();
    }
    const std::vector<std::shared_ptr<VariableState>> variables =
        entry == nullptr ? std::vector<std::shared_ptr<VariableState>>{} : entry->trace().variables;
    std::vector<Tensor> before = read_together(variables);
    const auto attempt = [&](Outcome& outcome, const auto& way) {
      try {
        outcome.results = way();
        outcome.variables = read_together(variables);
      } catch (const Error& error) {
        outcome.error = error.what();
      }
      assign_together(variables, before);
    };
    if (entry != nullptr)
      attempt(compiled, [&] {
        const NoFork whole;
        return state.run(*entry, std::vector<Tensor>(arguments), values, random);
      });
    attempt(eager, [&] {
      const function_detail::RandomScope scope(random);
      const function_detail::Activation activation(&state);
      return call.run(arguments).tensors;
    });
    if (!compiled.error.empty() && !eager.error.empty() && verification.refused++ == 0) verification.refusal = compiled.error;
    return difference(compiled, eager, options);
  };

  std::vector<int64_t> smallest;
  const auto keep_if_it_differs = [&](const std::vector<int64_t>& sizes) {
    std::optional<std::string> found = differs_at(sizes);
    if (!found) return false;
    smallest = sizes;
    verification.difference = std::move(*found);
    return true;
  };
  for (int64_t i = 0; i < options.count && verification.difference.empty(); ++i) keep_if_it_differs(sampler.sizes(i));
  for (bool shrinks = !smallest.empty(); shrinks;) shrinks = std::ranges::any_of(sampler.smaller(smallest), keep_if_it_differs);
  for (size_t i = 0; i < smallest.size(); ++i) verification.sizes.push_back({to_string(signature.symbols()[i]), smallest[i]});
  return verification;
}

std::string to_string(const Verification& verification) {
  const std::string tried = fmt::format("{} call{}", verification.tried, verification.tried == 1 ? "" : "s");
  const std::string refused = verification.refused == 0 ? "" : fmt::format(", {} of them refused both ways", verification.refused);
  if (verification) return fmt::format("compiled and op by op agree in {}{}", tried, refused);
  if (verification.difference.empty()) {
    return fmt::format("nothing was compared: {}",
                       verification.tried == 0 ? "no call was tried"
                                               : fmt::format("{} refused both ways, the first with: {}", tried, verification.refusal));
  }
  std::string sizes;
  for (const Verification::Size& size : verification.sizes)
    sizes += fmt::format("{}{} = {}", sizes.empty() ? " at " : ", ", size.name, size.value);
  return fmt::format("compiled and op by op differ{}: {} ({}{})", sizes, verification.difference, tried, refused);
}

}  // namespace anyshape
