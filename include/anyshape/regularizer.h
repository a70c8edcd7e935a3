// A penalty on a weight, added to the loss.
#pragma once
#include <anyshape/tensor.h>

#include <concepts>
#include <functional>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

class Regularizer {
 public:
  Regularizer() = default;        // none
  Regularizer(const char* name);  // "l1", "l2", "l1_l2" with Keras's strengths (0.01)
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&> && (!std::convertible_to<Callable, std::string>)
  Regularizer(Callable callable) : callable_(std::move(callable)) {}

  explicit operator bool() const { return callable_ != nullptr; }
  Tensor operator()(const Tensor& weight) const { return callable_(weight); }

 private:
  std::function<Tensor(const Tensor&)> callable_;
};

Regularizer l1(double strength = 0.01);  // strength * sum(|w|)
Regularizer l2(double strength = 0.01);  // strength * sum(w^2)
Regularizer l1_l2(double l1 = 0.01, double l2 = 0.01);

}  // namespace anyshape
#pragma GCC visibility pop
