// bind(): casts, rules, interpreter. Every op call of the library passes through here once.
#include "graph/bind.h"

#include "base/thread_object.h"
#include "graph/halves.h"
#include "graph/named_call.h"
#include "graph/ragged.h"
#include "shape/normal_form.h"
#include "tensor/half.h"
#include "tensor/tensor_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace anyshape {

namespace {

Interpreter* eager = nullptr;
Interpreter* describer = nullptr;  // of calls on placeholders, whichever interpreter is in force
bool (*names_placeholder)(const Attrs& attrs) = nullptr;

Execution* hold(Execution* execution) {
  if (execution != nullptr) execution->holders.fetch_add(1, std::memory_order_relaxed);
  return execution;
}

void let_go(Execution* execution) {
  while (execution != nullptr && execution->holders.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Execution* const outer = execution->outer;
    delete execution;
    execution = outer;
  }
}

bool is_of_this_thread(const Execution* execution) {
  const Execution* each = this_thread.execution;
  while (each != nullptr && each != execution) each = each->outer;
  return each != nullptr;
}

// What is in front when the thread ends is of tapes that other threads will end.
struct LetGoAtEnd {
  ~LetGoAtEnd() { let_go(std::exchange(this_thread.execution, nullptr)); }
};

// The nearest interpreter whose scope has not ended.
Interpreter& living(Execution*& execution) {
  while (execution != nullptr) {
    if (Interpreter* interpreter = execution->interpreter.load(std::memory_order_acquire)) return *interpreter;
    Execution* const outer = hold(execution->outer);
    let_go(std::exchange(execution, outer));
  }
  return eager_interpreter();
}

// An op on a placeholder is noted; outside a trace also one that asks for a placeholder's sizes.
Interpreter& interpreter_of(std::span<const Tensor> inputs, const Attrs& attrs) {
  if (std::ranges::any_of(inputs, [](const Tensor& input) { return input.impl()->placeholder() != nullptr; })) return *describer;
  Interpreter& current = current_interpreter();
  return &current == eager && names_placeholder != nullptr && names_placeholder(attrs) ? *describer : current;
}

// f32 instead of f16 and bf16; the half that there was, or f32.
Dtype widen_halves(std::span<Dtype> wanted) {
  Dtype half = Dtype::f32;
  for (Dtype& dtype : wanted) {
    if (is_half(dtype)) half = std::exchange(dtype, Dtype::f32);
  }
  return half;
}

}  // namespace

Interpreter& current_interpreter() { return living(this_thread.execution); }

void Interpreter::require_own(std::string_view op, const Tensor& tensor) const {
  throw TraceError(
      fmt::format("{}: the tensor {} left its trace: it has no value outside; expected a tensor with a value. Return it from the traced "
                  "function, or keep it in a Variable.",
                  op, describe(tensor)));
}

Interpreter& eager_interpreter() {
  if (eager == nullptr) throw InternalError("bind: no eager interpreter is there");
  return *eager;
}
void set_eager_interpreter(Interpreter& interpreter) { eager = &interpreter; }
void set_placeholder_interpreter(Interpreter& interpreter, bool (*names)(const Attrs& attrs)) {
  describer = &interpreter;
  names_placeholder = names;
}

ScopedInterpreter::ScopedInterpreter(Interpreter& interpreter, const OpenTrace* trace) : execution_(new Execution) {
  ThreadObject<LetGoAtEnd, Interpreter>::get();
  execution_->interpreter.store(&interpreter, std::memory_order_release);
  execution_->trace = trace;
  execution_->outer = this_thread.execution;  // which the thread held
  this_thread.execution = hold(execution_);
}

// What stands in front of it stays, but belongs to no trace that has ended.
ScopedInterpreter::~ScopedInterpreter() {
  execution_->interpreter.store(nullptr, std::memory_order_release);
  if (is_of_this_thread(execution_)) {
    const OpenTrace* const ended = execution_->trace;
    const OpenTrace* const around = execution_->outer != nullptr ? execution_->outer->trace : nullptr;
    for (Execution* each = this_thread.execution; each != execution_->outer; each = each->outer) {
      if (each->trace == ended) each->trace = around;
    }
    if (this_thread.execution == execution_) {
      this_thread.execution = hold(execution_->outer);
      let_go(execution_);
    }
  }
  let_go(execution_);
}

Interpreter& ScopedInterpreter::outer() const { return living(execution_->outer); }

std::vector<Tensor> bind_all(const OpDef& op, std::span<const Tensor> inputs, Attrs attrs) {
  const std::string_view name = called_name(op);
  const size_t count = inputs.size();
  if (op.inputs >= 0 ? count != static_cast<size_t>(op.inputs) : count == 0) {
    throw ArgumentError(
        refusal(name, fmt::format("got {} tensors", count), "", op.inputs < 0 ? "at least one" : fmt::to_string(op.inputs)));
  }
  for (const Tensor& input : inputs) {
    if (as_ragged(input) != nullptr) return bind_ragged({op, inputs, attrs});
  }
  std::vector<DtypeArgument> given(count);
  for (size_t i = 0; i < count; ++i) {
    require_operand(name, i, inputs[i]);
    given[i] = {inputs[i].dtype(), inputs[i].impl()->weak};
  }
  std::vector<Dtype> wanted(count);
  if (count > 0) op.dtype(name, given, wanted);
  const Dtype narrow = computes_in_f32(op) ? widen_halves(wanted) : Dtype::f32;

  std::vector<Tensor> operands(count);
  std::vector<TensorSpec> specs(count);
  for (size_t i = 0; i < count; ++i) {
    operands[i] = inputs[i].dtype() == wanted[i] ? inputs[i] : cast(inputs[i], wanted[i]);
    specs[i] = {wanted[i], operands[i].shape(), {}};
  }
  Interpreter& interpreter = interpreter_of(inputs, attrs);
  OpCall call(op, specs, attrs, interpreter.facts());
  std::vector<Tensor> results;
  try {
    const Specs outputs = op.shape(call);
    results = interpreter.run({op, operands, attrs, outputs, call.checks, call.made});
  } catch (const SizeTooLarge& error) {
    if (!std::string_view(error.what()).starts_with("size expression")) throw;  // an op is named already
    throw SizeTooLarge(fmt::format("{}: {}", name, error.what()));
  }
  for (Tensor& result : results) {
    if (is_half(narrow) && result.dtype() == Dtype::f32) result = cast(result, narrow);
  }
  return results;
}

}  // namespace anyshape
