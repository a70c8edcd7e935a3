// The one entrance of every op: bind() casts inputs, runs the dtype and shape rules, and hands the call to the interpreter in force
// (eager, tracing, or a recording tape in front of either).
#pragma once
#include "base/thread_context.h"
#include "graph/op_def.h"
#include "shape/prove.h"

#include <initializer_list>

namespace anyshape {

namespace detail {
struct VariableState;
}  // namespace detail

// A validated call: inputs of the right dtypes, outputs by the shape rule, checks that are still open.
struct BoundCall {
  const OpDef& op;
  std::span<const Tensor> inputs;
  const Attrs& attrs;
  std::span<const TensorSpec> outputs;
  std::span<const OpCheck> checks;
  const std::optional<MadeSize>& made;  // a size among the outputs' that is known after the call only
};

class Interpreter {
 public:
  virtual ~Interpreter() = default;
  virtual std::vector<Tensor> run(const BoundCall& call) = 0;
  virtual void require_own(std::string_view op, const Tensor& tensor) const;  // TraceError for a tensor that left its trace
  virtual void on_read(const detail::VariableState&, const Tensor&) {}        // a variable was read and gave this tensor
  virtual bool records() const { return false; }                              // a tape follows what runs here
  virtual Interpreter& unrecorded() { return *this; }                         // the one behind the tapes
  // What was computed unseen by the tapes counts for them as one call of this op.
  virtual void follow(const OpDef&, std::span<const Tensor> /*inputs*/, const Attrs&, std::span<const Tensor> /*outputs*/) {}
  virtual const Facts* facts() const { return nullptr; }  // sizes known to be equal at this place of a trace
  // Whether a tape would record what is computed from the tensor, or from the variable once it is read.
  virtual bool tracks(const Tensor&) const { return false; }
  virtual bool tracks(const detail::VariableState&) const { return false; }
};

// The interpreter of this thread: the top of a stack whose bottom is eager execution.
Interpreter& current_interpreter();
Interpreter& eager_interpreter();
void set_eager_interpreter(Interpreter& interpreter);  // once, by the folder that implements it
// `names_placeholder`: whether sizes among the attributes are those of placeholders.
void set_placeholder_interpreter(Interpreter& interpreter, bool (*names_placeholder)(const Attrs& attrs));

// Puts an interpreter in front of the others on this thread while it lives. May end out of order, and on another thread.
class ScopedInterpreter {
 public:
  // Ops belong to the trace that they belonged to before, or to another one; null: to none, and whatever was traced is suspended.
  explicit ScopedInterpreter(Interpreter& interpreter) : ScopedInterpreter(interpreter, this_thread.trace()) {}
  ScopedInterpreter(Interpreter& interpreter, const OpenTrace* trace);
  ~ScopedInterpreter();
  ScopedInterpreter(const ScopedInterpreter&) = delete;
  ScopedInterpreter& operator=(const ScopedInterpreter&) = delete;
  Interpreter& outer() const;  // the one behind this one

 private:
  Execution* execution_;  // outlives the scope where another thread ended it
};

std::vector<Tensor> bind_all(const OpDef& op, std::span<const Tensor> inputs, Attrs attrs = {});
inline Tensor bind(const OpDef& op, std::initializer_list<Tensor> inputs, Attrs attrs = {}) {
  return bind_all(op, std::span(inputs.begin(), inputs.size()), std::move(attrs))[0];
}

}  // namespace anyshape
