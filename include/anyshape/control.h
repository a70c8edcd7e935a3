// Control flow on values: branches and loops that stay in the graph. The same code runs eagerly, where it simply is a branch or a loop.
// A plain `if (tensor)` works, too: see docs/guide/control_flow.md.
#pragma once
#include <anyshape/function.h>
#include <anyshape/tensor.h>

#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {

/// The type-erased body of cond.
FunctionResults cond_tensors(const Tensor& condition, const std::function<FunctionResults()>& then,
                             const std::function<FunctionResults()>& otherwise);

}  // namespace detail

/// then() where the condition (one element) is not zero, otherwise() where it is. Both give values of one type with the same number of
/// tensors, dtypes and shapes; only the chosen one is computed, checked, and assigns its variables.
template <class Then, class Otherwise>
auto cond(const Tensor& condition, Then then, Otherwise otherwise) {
  using Value = std::decay_t<std::invoke_result_t<Then&>>;
  static_assert(std::is_same_v<Value, std::decay_t<std::invoke_result_t<Otherwise&>>>,
                "anyshape::cond: both branches return the same type");
  detail::require_callable(then, "cond", "the first callable, for a condition that holds,");
  detail::require_callable(otherwise, "cond", "the second callable, for a condition that does not hold,");
  detail::FunctionResults results =
      detail::cond_tensors(condition, [&] { return detail::call_flat(then); }, [&] { return detail::call_flat(otherwise); });
  if constexpr (!std::is_void_v<Value>) return detail::rebuild_results<Value>(std::move(results));
}

/// How many steps a scan makes, and from which end.
struct ScanOptions {
  std::optional<Dim> length = {};  ///< the number of steps; needed where there are no sequences
  bool reverse = false;            ///< from the last step to the first; outputs stand at the step they belong to
};

namespace detail {

/// The type-erased body of scan: `body` gives the carried tensors, then what is stacked; the results are in this order, too.
using ScanBody = std::function<FunctionResults(std::span<const Tensor> carried, std::span<const Tensor> slices)>;
FunctionResults scan_tensors(const ScanBody& body, const std::vector<Tensor>& carried, const std::vector<Tensor>& sequences,
                             const ScanOptions& options);

/// Whether `Step`, which the body of a scan returns, is a std::pair that begins with a `Carry`.
template <class Step, class Carry>
inline constexpr bool is_step = false;
template <class Carry, class Outputs>
inline constexpr bool is_step<std::pair<Carry, Outputs>, Carry> = true;

/// scan for a body that returns the pair `Step`.
template <class Step, class Body, class Carry, class Sequences>
std::pair<Carry, typename Step::second_type> scan_steps(Body& body, const Carry& initial, const Sequences& sequences,
                                                        const ScanOptions& options) {
  using Outputs = typename Step::second_type;
  require_callable(body, "scan", "the body");
  const std::vector<Tensor> carried = structure::flatten(initial);
  FunctionResults results = scan_tensors(
      [&](std::span<const Tensor> carry, std::span<const Tensor> slices) {
        Step step = body(structure::rebuild(Carry(initial), {carry.begin(), carry.end()}),
                         structure::rebuild(Sequences(sequences), {slices.begin(), slices.end()}));
        FunctionResults all{structure::flatten(step.first)};
        FunctionResults outputs = flat_results<Outputs>(std::move(step.second));
        all.tensors.insert(all.tensors.end(), outputs.tensors.begin(), outputs.tensors.end());
        all.layout = std::move(outputs.layout);
        return all;
      },
      carried, structure::flatten(sequences), options);
  const auto split = results.tensors.begin() + static_cast<std::ptrdiff_t>(carried.size());
  Carry last = structure::rebuild(Carry(initial), {results.tensors.begin(), split});
  results.tensors.erase(results.tensors.begin(), split);
  return std::pair<Carry, Outputs>(std::move(last), rebuild_results<Outputs>(std::move(results)));
}

}  // namespace detail

/// A loop over the first axis of the sequences: body(carry, slices) -> std::pair(next carry, outputs), from `initial` on. Gives the last
/// carry and the outputs stacked along a new first axis. One node however many steps there are; none is fine.
///   auto [last, all] = scan([&](Tensor h, Tensor x) { Tensor next = tanh(matmul(h, w) + x); return std::pair(next, next); }, h0, xs);
/// Carry, sequences and outputs are tensors or values made of them (structure.h); a carry keeps its shape and dtype.
template <class Body, class Carry, class Sequences>
  requires std::is_invocable_v<Body&, const Carry&, const Sequences&>
auto scan(Body body, const Carry& initial, const Sequences& sequences, const ScanOptions& options = {}) {
  using Step = std::decay_t<std::invoke_result_t<Body&, const Carry&, const Sequences&>>;
  static_assert(
      detail::is_step<Step, Carry>,
      "anyshape::scan: the body returns std::pair(next carry, outputs), with a carry of the initial one's type; where nothing is to "
      "be stacked: std::pair(next, std::vector<Tensor>())");
  if constexpr (detail::is_step<Step, Carry>) {
    return detail::scan_steps<Step>(body, initial, sequences, options);
  } else {
    return std::pair<Carry, Tensor>();  // the message above is all a compiler says
  }
}

/// Without sequences: body(carry) -> std::pair(next carry, outputs), options.length times.
template <class Body, class Carry>
  requires std::is_invocable_v<Body&, const Carry&>
auto scan(Body body, const Carry& initial, const ScanOptions& options) {
  detail::require_callable(body, "scan", "the body");
  return scan([&](const Carry& carry, const std::vector<Tensor>&) { return body(carry); }, initial, std::vector<Tensor>(), options);
}

/// When a while_loop ends at the latest; a negative number is an ArgumentError.
struct WhileOptions {
  std::optional<int64_t> max_iterations = {};  ///< ends the loop at the latest; needed for gradients
};

namespace detail {

/// The type-erased body of while_loop.
using WhileCondition = std::function<Tensor(std::span<const Tensor> carried)>;
using WhileBody = std::function<std::vector<Tensor>(std::span<const Tensor> carried)>;
std::vector<Tensor> while_tensors(const WhileCondition& condition, const WhileBody& body, const std::vector<Tensor>& initial,
                                  const WhileOptions& options);

}  // namespace detail

/// body(state) -> next state as long as condition(state) (one element) is not zero. A state keeps its shapes and dtypes.
template <class Condition, class Body, class State>
State while_loop(Condition condition, Body body, const State& initial, const WhileOptions& options = {}) {
  static_assert(std::is_same_v<std::decay_t<std::invoke_result_t<Body&, const State&>>, State>,
                "anyshape::while_loop: the body returns a state of the initial one's type");
  detail::require_callable(condition, "while_loop", "the condition");
  detail::require_callable(body, "while_loop", "the body");
  auto state = [&](std::span<const Tensor> tensors) {
    return detail::structure::rebuild(State(initial), {tensors.begin(), tensors.end()});
  };
  std::vector<Tensor> last =
      detail::while_tensors([&](std::span<const Tensor> carried) { return Tensor(condition(state(carried))); },
                            [&](std::span<const Tensor> carried) { return detail::structure::flatten(body(state(carried))); },
                            detail::structure::flatten(initial), options);
  return detail::structure::rebuild(State(initial), std::move(last));
}

}  // namespace anyshape
#pragma GCC visibility pop
