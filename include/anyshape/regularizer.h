// A penalty on a weight, added to the loss.
#pragma once
#include <anyshape/config.h>
#include <anyshape/tensor.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

/// A penalty: none, a name, one of those below, or any callable on a weight that gives a scalar.
class Regularizer : public detail::ShownByConfig<Regularizer> {
 public:
  Regularizer() = default;        ///< none
  Regularizer(const char* name);  ///< "l1", "l2", "l1_l2" with Keras's strengths (0.01)
  Regularizer(const std::string& name);
  /// A callable of the user's; ArgumentError for an empty std::function.
  template <class Callable>
    requires std::is_invocable_r_v<Tensor, const Callable&, const Tensor&> && (!std::convertible_to<Callable, std::string>)
  Regularizer(Callable callable) : callable_(std::move(callable)) {
    require_callable();
  }

  explicit operator bool() const { return callable_ != nullptr; }              ///< false: none
  Tensor operator()(const Tensor& weight) const { return callable_(weight); }  ///< a scalar; not to be called where there is none
  Config config() const;  ///< its name and strengths; nothing for none; a plain callable says that it is one

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  void require_callable() const;  ///< ArgumentError for an empty std::function

  std::function<Tensor(const Tensor&)> callable_;
  std::shared_ptr<const detail::Made> made_;
};
/// The registry of regularizers; it takes nothing for none, too.
template <>
Registry& registry_of<Regularizer>();

Regularizer l1(double strength = 0.01);                 ///< strength * sum(|w|)
Regularizer l2(double strength = 0.01);                 ///< strength * sum(w^2)
Regularizer l1_l2(double l1 = 0.01, double l2 = 0.01);  ///< l1 * sum(|w|) + l2 * sum(w^2)

}  // namespace anyshape
#pragma GCC visibility pop
