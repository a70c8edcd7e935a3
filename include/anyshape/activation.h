// What a layer does to its result: an op like `relu`, its Keras name, or any callable on a tensor.
#pragma once
#include <anyshape/tensor.h>

#include <concepts>
#include <functional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace anyshape {

class ActivationFunction {
 public:
  ActivationFunction() = default;        // linear: the value itself
  ActivationFunction(const char* name);  // "relu"; ArgumentError with the near names for an unknown one
  ActivationFunction(const std::string& name);
  ActivationFunction(Tensor (*op)(const Tensor&));  // as::relu; also picks the right one of an overloaded name (as::softmax)
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&> && (!std::convertible_to<Callable, std::string>)
  ActivationFunction(Callable callable) : ActivationFunction(std::function<Tensor(const Tensor&)>(std::move(callable))) {}
  ActivationFunction(std::function<Tensor(const Tensor&)> callable);

  Tensor operator()(const Tensor& x) const;
  bool is_linear() const { return callable_ == nullptr; }
  const std::string& name() const { return name_; }  // "linear", "relu", ...; "custom" for a callable of the user's

 private:
  std::function<Tensor(const Tensor&)> callable_;
  std::string name_ = "linear";
};

}  // namespace anyshape
#pragma GCC visibility pop
