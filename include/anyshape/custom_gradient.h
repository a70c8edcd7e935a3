// custom_gradient(): a callable on tensors with your own gradient instead of the one that follows from its ops.
#pragma once
#include <anyshape/callable.h>
#include <anyshape/structure.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// What a gradient is computed from.
struct CustomGradientCall {
  std::span<const Tensor> inputs;
  std::span<const Tensor> outputs;
  std::span<const Tensor> output_gradients;  ///< one per output; zeros where nothing flows back
};

/// What errors call a custom_gradient.
struct CustomGradientOptions {
  std::string name = "custom_gradient";  ///< for error texts
};

namespace detail {

/// The part that does not depend on the callables' types.
struct CustomGradientRule {
  std::function<std::vector<Tensor>(const CustomGradientCall& call)> gradient;
  std::string name;
};
std::vector<Tensor> call_with_gradient(const std::shared_ptr<const CustomGradientRule>& rule, const std::vector<Tensor>& inputs,
                                       const std::function<std::vector<Tensor>()>& forward);

}  // namespace detail

/// A callable like `forward` (values as structure.h has them) whose gradient is what `gradient` returns for a CustomGradientCall: one tensor
/// per tensor of the arguments, of its dtype and shape, an empty handle where nothing flows. Tapes see the call as one step: second
/// derivatives go through the ops of `gradient`, and variables that `forward` reads get none, so read them outside and pass the values.
/// Works eagerly and inside function().
///   const auto clipped = custom_gradient([](Tensor x) { return x; }, [](const CustomGradientCall& call) {
///     return clip(call.output_gradients[0], -1, 1);
///   });
template <class Forward, class Gradient>
auto custom_gradient(Forward forward, Gradient gradient, CustomGradientOptions options = {}) {
  constexpr bool is_deducible = requires { std::function(forward); };
  static_assert(is_deducible, "anyshape::custom_gradient: the callable's parameter types must be written out (Tensor x, not auto x)");
  if constexpr (is_deducible) {
    detail::require_callable(forward, options.name, "the forward callable");
    detail::require_callable(gradient, options.name, "the gradient callable");
    auto rule = std::make_shared<detail::CustomGradientRule>();
    rule->name = std::move(options.name);
    rule->gradient = [gradient = std::move(gradient)](const CustomGradientCall& call) {
      return detail::structure::flatten(gradient(call));
    };
    return [&]<class R, class... Args>(std::function<R(Args...)> typed) {
      return std::function<R(Args...)>([typed = std::move(typed), rule](const std::remove_cvref_t<Args>&... arguments) {
        std::optional<std::decay_t<R>> value;
        std::vector<Tensor> outputs = detail::call_with_gradient(rule, detail::structure::flatten(std::tie(arguments...)), [&] {
          value.emplace(typed(arguments...));
          return detail::structure::flatten(*value);
        });
        return detail::structure::rebuild(std::move(*value), std::move(outputs));
      });
    }(std::function(std::move(forward)));
  }
}

}  // namespace anyshape
#pragma GCC visibility pop
