// Variables: a slot with the current value, or, inside a trace, whatever the trace says.
#include "base/no_fork.h"
#include "graph/bind.h"
#include "graph/clone_scope.h"
#include "graph/stateful.h"
#include "graph/variable_undo.h"
#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/spec.h>

#include <fmt/format.h>

#include <mutex>
#include <ostream>
#include <shared_mutex>

namespace anyshape {
namespace {

VariableState& require_state(const std::shared_ptr<VariableState>& state) {
  if (state == nullptr) throw UnmadeVariable();
  return *state;
}

}  // namespace

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
  const NoFork whole;
  const std::shared_lock lock(gate_);
  return value_;
}

void VariableState::set_value(Tensor value) {
  const NoFork whole;
  const std::scoped_lock lock(gate_);
  std::swap(value_, value);  // the old value dies outside the gate
}

Variable::Variable(const Variable& other) : state_(other.state_) {
  CloneScope* const scope = CloneScope::current(state_.get());
  if (scope == nullptr) return;
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

// The value that the variable gets: of its dtype and, as far as is known, of its shape.
static Tensor fitting(const VariableState& state, const Tensor& given) {
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
  return value;
}

// Reads (or does not), computes and assigns. Outside a trace that is the variable's turn: nobody else assigns it in between.
template <class Compute>
static void change(const std::shared_ptr<VariableState>& given, const Compute& compute) {
  VariableState& state = require_state(given);
  if (VariableScope* scope = current_variable_scope()) return scope->assign(given, fitting(state, compute()));
  const NoFork whole;
  const std::scoped_lock turn(state.turn());
  Tensor value = another_handle(fitting(state, compute()));
  VariableUndo* const undo = VariableUndo::current();
  if (undo != nullptr) undo->remember(given);
  state.set_value(std::move(value));
  if (undo != nullptr) undo->note_assigned(state);
}

void Variable::assign(const Tensor& given) const {
  change(state_, [&] { return given; });
}
void Variable::assign_add(const Tensor& difference) const {
  change(state_, [&] { return read() + difference; });
}
void Variable::assign_sub(const Tensor& difference) const {
  change(state_, [&] { return read() - difference; });
}

uint64_t Variable::id() const { return require_state(state_).id; }
Shape Variable::shape() const { return require_state(state_).shape; }
Dtype Variable::dtype() const { return require_state(state_).dtype; }
const std::string& Variable::name() const { return require_state(state_).name; }
bool Variable::trainable() const { return require_state(state_).trainable; }

// A friend that its class declares does not take the visibility of its namespace.
[[gnu::visibility("default")]] std::ostream& operator<<(std::ostream& out, const Variable& variable) {
  if (!variable.defined()) return out << "undefined";
  const Tensor value = variable.read();
  return out << TensorSpec{value.dtype(), value.shape(), variable.name()} << " = " << value;
}

}  // namespace anyshape
