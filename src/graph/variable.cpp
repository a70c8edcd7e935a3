// Variables: a slot with the current value, or, inside a trace, whatever the trace says.
#include "graph/bind.h"
#include "graph/clone_scope.h"
#include "graph/stateful.h"
#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <mutex>
#include <shared_mutex>

namespace anyshape {
namespace {

thread_local VariableScope* variable_scope = nullptr;

VariableState& require_state(const std::shared_ptr<VariableState>& state) {
  if (state == nullptr) throw ArgumentError("Variable: this handle refers to no variable; expected one made from an initial value.");
  return *state;
}

}  // namespace

VariableScope* current_variable_scope() { return variable_scope; }
void set_current_variable_scope(VariableScope* scope) { variable_scope = scope; }

// Whether they are known to differ; what is not known is for the trace to check.
static bool has_other_shape(const Shape& given, const Shape& wanted) {
  if (given.rank() != wanted.rank()) return true;
  for (int axis = 0; axis < given.rank(); ++axis) {
    if (!proves_equal(given[axis], wanted[axis]).value_or(true)) return true;
  }
  return false;
}

std::string VariableState::described() const { return name.empty() ? "variable" : fmt::format("variable \"{}\"", name); }

Tensor VariableState::value() const {
  const std::shared_lock lock(gate_);
  return value_;
}

void VariableState::set_value(Tensor value) {
  const std::scoped_lock lock(gate_);
  std::swap(value_, value);  // the old value dies outside the gate
}

Variable::Variable(const Variable& other) : state_(other.state_) {
  CloneScope* const scope = CloneScope::current();
  if (scope == nullptr || state_ == nullptr) return;
  state_ =
      scope->clone_of(state_, [&] { return Variable(state_->value(), {.trainable = state_->trainable, .name = state_->name}).state_; });
}

Variable::Variable(const Tensor& initial, VariableOptions options) : state_(std::make_shared<VariableState>()) {
  if (!initial.defined()) throw ArgumentError("Variable: the initial value is an empty tensor handle; expected a tensor.");
  state_->name = std::move(options.name);
  state_->trainable = options.trainable;
  if (is_traced(initial)) current_interpreter().require_own("Variable", initial);
  VariableScope* scope = current_variable_scope();
  const Tensor value = scope != nullptr ? scope->created(*state_, initial) : initial;
  state_->dtype = value.dtype();
  state_->shape = value.shape();
  // A handle of the variable's own: a tape must not take two variables that were given one tensor for the same.
  state_->set_value(another_handle(value));
}

Tensor Variable::read() const {
  VariableScope* scope = current_variable_scope();
  const VariableState& state = require_state(state_);
  Tensor value = scope != nullptr ? scope->read(state_) : state.value();
  current_interpreter().on_read(state, value);
  return value;
}

void Variable::assign(const Tensor& given) const {
  VariableState& state = require_state(state_);
  const std::string name = state.described();
  if (!given.defined()) throw ArgumentError(fmt::format("assign: {} got an empty tensor handle; expected a tensor.", name));
  if (is_traced(given)) current_interpreter().require_own("assign", given);
  const Tensor value = given.impl()->weak ? cast(given, state.dtype) : given;  // a host number takes the variable's dtype
  if (value.dtype() != state.dtype) {
    throw DtypeError(
        fmt::format("assign: {} is {} but the value is {}; expected the same dtype. Cast the value with as::cast(value, as::{}).", name,
                    to_string(state.dtype), to_string(value.dtype()), to_string(state.dtype)));
  }
  if (has_other_shape(value.shape(), state.shape)) {
    throw ShapeError(fmt::format("assign: {} is {}{} but the value is {}{}; expected the same shape.", name, to_string(state.dtype),
                                 to_string(state.shape), to_string(value.dtype()), to_string(value.shape())));
  }
  if (VariableScope* scope = current_variable_scope()) {
    scope->assign(state_, value);
  } else {
    state.set_value(another_handle(value));
  }
}

void Variable::assign_add(const Tensor& difference) const { assign(read() + difference); }
void Variable::assign_sub(const Tensor& difference) const { assign(read() - difference); }

uint64_t Variable::id() const { return require_state(state_).id; }
Shape Variable::shape() const { return require_state(state_).shape; }
Dtype Variable::dtype() const { return require_state(state_).dtype; }
const std::string& Variable::name() const { return require_state(state_).name; }
bool Variable::trainable() const { return require_state(state_).trainable; }

}  // namespace anyshape
