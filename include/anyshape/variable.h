// Variables: named state that functions read and assign.
#pragma once
#include <anyshape/tensor.h>

#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace anyshape {

struct VariableState;

struct VariableOptions {
  bool trainable = true;
  std::string name = {};
};

// A handle: copies share the state. Reading gives the current value, which never changes afterwards; assigning puts another in its place.
// Inside a traced function both are part of the trace, and a call commits all of its assignments or none.
class Variable {
 public:
  Variable() = default;
  explicit Variable(const Tensor& initial, VariableOptions options = {});
  Variable(const Variable& other);  // the same variable; its clone while a model around it is cloned
  Variable(Variable&&) noexcept = default;
  Variable& operator=(const Variable&) = default;
  Variable& operator=(Variable&&) noexcept = default;

  Tensor read() const;
  operator Tensor() const { return read(); }
  void assign(const Tensor& value) const;           // dtype and shape stay; ShapeError or DtypeError otherwise
  void assign_add(const Tensor& difference) const;  // assign(read() + difference)
  void assign_sub(const Tensor& difference) const;
  Shape shape() const;
  Dtype dtype() const;
  const std::string& name() const;
  bool trainable() const;
  bool defined() const { return state_ != nullptr; }
  uint64_t id() const;  // never given to another variable
  const std::shared_ptr<VariableState>& state() const { return state_; }

 private:
  std::shared_ptr<VariableState> state_;
};

}  // namespace anyshape
#pragma GCC visibility pop
