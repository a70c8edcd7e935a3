// What a layer does to its result: an op like `relu`, its Keras name, or any callable on a tensor.
#pragma once
#include <anyshape/config.h>
#include <anyshape/tensor.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace anyshape {

/// An activation: none, a name, an op, or any callable on a tensor.
class ActivationFunction {
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

  Tensor operator()(const Tensor& x) const;                 ///< the tensor itself where it is linear
  bool is_linear() const { return callable_ == nullptr; }   ///< none, or "linear"
  const std::string& name() const { return name_; }         ///< "linear", "relu", ...; "custom" for a callable of the user's
  Config config() const;                                    ///< its name; a plain callable says that it is one
  void set_made(std::shared_ptr<const detail::Made> made);  ///< see with_config()

 private:
  std::function<Tensor(const Tensor&)> callable_;
  std::string name_ = "linear";
  std::shared_ptr<const detail::Made> made_;
};
/// The registry of activations.
template <>
Registry& registry_of<ActivationFunction>();

}  // namespace anyshape
#pragma GCC visibility pop
