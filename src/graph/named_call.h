// The name an error says: a public function made of several ops opens a NamedCall, and what its ops refuse is told under its name and with
// its operands. The outermost one of a thread counts, so that std says "std" although it is made of var, mean and sum.
#pragma once
#include "graph/layer_path.h"

#include <anyshape/tensor.h>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace anyshape {

class NamedCall {
 public:
  // The operands must outlive it. ArgumentError for a handle on nothing, TraceError for a tensor of another trace.
  template <class... Operands>
    requires(std::is_same_v<Operands, Tensor> && ...)
  explicit NamedCall(std::string_view name, const Operands&... operands) : name_(name), few_{&operands...}, count_(sizeof...(Operands)) {
    open();
  }
  NamedCall(std::string_view name, std::span<const Tensor> operands) : name_(name), many_(operands), count_(operands.size()) { open(); }
  ~NamedCall();
  NamedCall(const NamedCall&) = delete;
  NamedCall& operator=(const NamedCall&) = delete;

  static const NamedCall* current();  // the outermost on this thread; null where an op is called by itself

  std::string_view name() const { return name_; }
  std::string describe_operands() const;  // "a is f32[batch, 784], b is f32[100, 10]"

  // ShapeError, DtypeError or ArgumentError "<name>: <what>: x is f32[2, 3]; expected <rule>.", under the name of the outermost.
  [[noreturn]] void fail(std::string_view what, std::string_view expected) const;
  [[noreturn]] void fail_dtype(std::string_view what, std::string_view expected) const;
  [[noreturn]] void fail_argument(std::string_view what, std::string_view expected) const;
  int axis(int64_t axis, int rank) const;  // counted from the front; ShapeError outside
  int axis(int64_t axis) const;            // of the first operand

 private:
  void open();
  const Tensor& operand(size_t index) const { return many_.empty() ? *few_[index] : many_[index]; }
  std::string failure(std::string_view what, std::string_view expected) const;

  std::string_view name_;
  std::array<const Tensor*, 3> few_{};
  std::span<const Tensor> many_;
  size_t count_;
  bool is_outermost_ = false;
};

struct OpDef;
std::string_view called_name(const OpDef& op);  // the current call's, or the op's where it is called by itself

// What bind and NamedCall refuse of every operand.
void require_operand(std::string_view op, size_t index, const Tensor& operand);

// "x", or "a", "b", ... of several.
std::string operand_name(size_t index, size_t count);

// "<op>: <what>: <operands>; expected <rule>." and the layer or loss that called.
std::string refusal(std::string_view op, std::string_view what, std::string_view operands, std::string_view expected,
                    std::string_view place = current_place());

}  // namespace anyshape
