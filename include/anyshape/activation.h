// What a layer does to its result: an op like `relu`, its Keras name, or any callable on a tensor.
#pragma once
#include <anyshape/config.h>
#include <anyshape/ops/neural.h>
#include <anyshape/tensor.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {
struct ActivationImpl;
}

/// An activation: none, a name, an op, one of namespace activations with options, or any callable on a tensor.
class ActivationFunction : public detail::ShownByConfig<ActivationFunction> {
 public:
  ActivationFunction() = default;        ///< linear: the value itself
  ActivationFunction(const char* name);  ///< "relu"; ArgumentError with the near names for an unknown one
  ActivationFunction(const std::string& name);
  ActivationFunction(Tensor (*op)(const Tensor&));  ///< as::relu; also picks the right one of an overloaded name (as::softmax)
  /// A callable of the user's, named "custom"; ArgumentError for an empty std::function.
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&> && (!std::convertible_to<Callable, std::string>)
  ActivationFunction(Callable callable) : ActivationFunction(std::function<Tensor(const Tensor&)>(std::move(callable))) {}
  ActivationFunction(std::function<Tensor(const Tensor&)> callable);
  explicit ActivationFunction(std::shared_ptr<const detail::ActivationImpl> impl) : impl_(std::move(impl)) {}

  Tensor operator()(const Tensor& x) const;            ///< the tensor itself where it is linear
  bool is_linear() const { return impl_ == nullptr; }  ///< none, or "linear"
  const std::string& name() const;                     ///< "linear", "relu", ...; "custom" for a callable of the user's
  Config config() const;                               ///< its name and options; a plain callable says that it is one
  const std::shared_ptr<const detail::ActivationImpl>& impl() const { return impl_; }  ///< for the library; none of the linear one

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  std::shared_ptr<const detail::ActivationImpl> impl_;
};
/// The registry of activations.
template <>
Registry& registry_of<ActivationFunction>();

/// Activations with your own options: `.activation = as::activations::gelu({.approximate = true})`. families.h has the ops beside them.
namespace activations {

ActivationFunction elu(EluOptions options = {});               ///< x, or alpha * (exp(x) - 1) below 0
ActivationFunction gelu(GeluOptions options = {});             ///< x * (1 + erf(x / sqrt(2))) / 2, or what comes near it
ActivationFunction leaky_relu(LeakyReluOptions options = {});  ///< x, or slope * x below 0
ActivationFunction softmax(AxisOptions options = {});          ///< exp(x) / sum(exp(x)) along the axis
ActivationFunction log_softmax(AxisOptions options = {});      ///< log(softmax(x)), accurate where that is small

}  // namespace activations

}  // namespace anyshape
#pragma GCC visibility pop
