// Variables: named state that functions read and assign.
#pragma once
#include <anyshape/tensor.h>

#include <iosfwd>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

namespace detail {
struct VariableState;
}

/// Whether tapes watch the variable as soon as it is read, and what errors and reports call it.
struct VariableOptions {
  bool trainable = true;
  std::string name = {};
};

/// A handle: copies share the state. Reading gives the current value, which never changes afterwards; assigning puts another in its place.
/// Inside a traced function both are part of the trace, and a call commits all of its assignments or none.
class Variable {
 public:
  Variable() = default;
  explicit Variable(const Tensor& initial, VariableOptions options = {});
  Variable(const Variable& other);  ///< the same variable; its clone while a model around it is cloned
  Variable(Variable&&) noexcept = default;
  Variable& operator=(const Variable&) = default;
  Variable& operator=(Variable&&) noexcept = default;

  /// The current value. ArgumentError, as from all but defined() and state(), where the handle refers to no variable.
  Tensor read() const;
  operator Tensor() const { return read(); }          ///< the same
  void assign(const Tensor& value) const;             ///< dtype and shape stay; ShapeError or DtypeError otherwise
  void assign_add(const Tensor& difference) const;    ///< assign(read() + difference), and nobody else's assignment comes between
  void assign_sub(const Tensor& difference) const;    ///< likewise read() - difference
  Shape shape() const;                                ///< of every value it can have
  Dtype dtype() const;                                ///< likewise
  const std::string& name() const;                    ///< as given; may be empty
  bool trainable() const;                             ///< as given
  bool defined() const { return state_ != nullptr; }  ///< whether the handle refers to a variable
  uint64_t id() const;                                ///< never given to another variable
  const std::shared_ptr<detail::VariableState>& state() const { return state_; }  ///< what copies share; null where it refers to none

  friend std::ostream& operator<<(std::ostream& out, const Variable& variable);  ///< "kernel: f32[2] = [1, 2]"

 private:
  std::shared_ptr<detail::VariableState> state_;
};

}  // namespace anyshape
#pragma GCC visibility pop
