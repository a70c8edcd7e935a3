// bind(): casts, rules, interpreter. Every op call of the library passes through here once.
#include "graph/bind.h"

#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

thread_local ScopedInterpreter* top = nullptr;
Interpreter* eager = nullptr;

// A host number becomes a scalar of the wanted dtype on the spot; a tensor goes through the cast op.
Tensor cast_to(const Tensor& tensor, Dtype wanted) {
  if (tensor.dtype() == wanted) return tensor;
  if (!tensor.impl()->weak) return cast(tensor, wanted);
  return is_floating(tensor.dtype()) ? make_scalar(wanted, tensor.item<double>()) : make_scalar(wanted, tensor.item<int64_t>());
}

}  // namespace

Interpreter& current_interpreter() {
  if (top != nullptr) return top->interpreter_;
  if (eager == nullptr) throw InternalError("bind: no eager interpreter is there");
  return *eager;
}

void Interpreter::require_own(std::string_view op, const Tensor& tensor) const {
  throw TraceError(
      fmt::format("{}: the tensor {} left its trace: it has no value outside; expected a tensor with a value. Return it from the traced "
                  "function, or keep it in a Variable.",
                  op, describe(tensor)));
}

void set_eager_interpreter(Interpreter& interpreter) { eager = &interpreter; }

ScopedInterpreter::ScopedInterpreter(Interpreter& interpreter) : interpreter_(interpreter), outer_(top) { top = this; }

ScopedInterpreter::~ScopedInterpreter() {
  for (ScopedInterpreter** link = &top; *link != nullptr; link = &(*link)->outer_) {
    if (*link != this) continue;
    *link = outer_;
    return;
  }
}

Interpreter& ScopedInterpreter::outer() const { return outer_ != nullptr ? outer_->interpreter_ : *eager; }

std::vector<Tensor> bind_all(const OpDef& op, std::span<const Tensor> inputs, Attrs attrs) {
  const size_t count = inputs.size();
  if (op.inputs >= 0 ? count != static_cast<size_t>(op.inputs) : count == 0) {
    throw ArgumentError(
        fmt::format("{}: got {} tensors; expected {}.", op.name, count, op.inputs < 0 ? "at least one" : fmt::to_string(op.inputs)));
  }
  Interpreter& interpreter = current_interpreter();
  std::vector<DtypeArgument> given(count);
  for (size_t i = 0; i < count; ++i) {
    if (!inputs[i].defined())
      throw ArgumentError(fmt::format("{}: argument {} is an empty tensor handle; expected a tensor with a value.", op.name, i));
    if (is_traced(inputs[i])) interpreter.require_own(op.name, inputs[i]);
    given[i] = {inputs[i].dtype(), inputs[i].impl()->weak};
  }
  std::vector<Dtype> wanted(count);
  if (count > 0) op.dtype(op.name, given, wanted);

  std::vector<Tensor> operands(count);
  std::vector<TensorSpec> specs(count);
  for (size_t i = 0; i < count; ++i) {
    operands[i] = cast_to(inputs[i], wanted[i]);
    specs[i] = {wanted[i], operands[i].shape(), {}};
  }
  OpCall call(op, specs, attrs, interpreter.facts());
  const Specs outputs = op.shape(call);
  return interpreter.run({op, operands, attrs, outputs, call.checks});
}

}  // namespace anyshape
