// Objects with an identity that a trace may hold, and the trace as they see it.
#pragma once
#include "base/thread_context.h"
#include "graph/variable_gate.h"
#include "graph/variable_turn.h"

#include <anyshape/error.h>
#include <anyshape/variable.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace anyshape {

class VariableSet;
using detail::VariableState;

uint64_t new_object_id();  // never given twice in a process

struct detail::VariableState {
  uint64_t id = new_object_id();
  std::string name;
  bool trainable = true;
  Dtype dtype = Dtype::f32;
  Shape shape;

  Tensor value() const;           // of this moment
  std::string described() const;  // `variable "w"`, for error texts
  void set_value(Tensor value);
  VariableTurn& turn() const { return turn_; }  // of who reads it and assigns it

 private:
  friend VariableSet;
  mutable VariableGate gate_;
  mutable VariableTurn turn_;
  Tensor value_;
};

// A handle is used that refers to no variable: for the layers around it, which know more, to tell.
class UnmadeVariable : public ArgumentError {
 public:
  UnmadeVariable()
      : ArgumentError(
            "Variable: this handle refers to no variable; expected one made from an initial value, or a weight of a layer that is built. "
            "Call "
            "the layer on data, or its build(input shape), before a method of it that uses its weights.") {}
};

// Several variables as of one moment, and several changed as one; see variable_set.h.
std::vector<Tensor> read_together(std::span<const std::shared_ptr<VariableState>> variables);
void assign_together(std::span<const std::shared_ptr<VariableState>> variables, std::vector<Tensor> values);

// The trace in progress on this thread, if any: variables are values of its graph.
class VariableScope {
 public:
  virtual ~VariableScope() = default;
  virtual Tensor read(const std::shared_ptr<VariableState>& variable) = 0;
  // Of the variable's dtype and rank; sizes may differ as far as nothing is known of them.
  virtual void assign(const std::shared_ptr<VariableState>& variable, const Tensor& value) = 0;
  // A variable is made inside the trace: its initial value as it is outside.
  virtual Tensor created(const VariableState& variable, const Tensor& initial) = 0;
  // State was made outside the trace that later traces find: this one may say of sizes what they will not.
  virtual void state_is_made() = 0;
};
// Null outside a trace.
inline VariableScope* current_variable_scope() {
  const OpenTrace* const trace = this_thread.trace();
  return trace != nullptr ? trace->variables : nullptr;
}

}  // namespace anyshape
