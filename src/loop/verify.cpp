// The verifier: one walk over the kernel that knows which values are visible, which loops stand around, and which values differ from lane
// to lane of the innermost Vector or Reduce loop.
#include "loop/verify.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "loop/rules.h"
#include "loop/scalar.h"

namespace anyshape::loop {
namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel), visible_(kernel.types.size(), false), defined_(kernel.types.size(), false), varying_(kernel.types.size(), false) {}

  void run() {
    std::vector<std::string_view> names;
    for (const Buffer& buffer : kernel_.buffers) names.push_back(buffer.name);
    require_different(names, "buffers");
    names.assign(kernel_.dims.begin(), kernel_.dims.end());
    require_different(names, "dims");
    block(kernel_.body, [] {});
  }

 private:
  // The loops around an instruction.
  struct Around {
    bool parallel = false;
    bool lanes = false;  // in an Elements, Vector or Reduce body
  };

  [[noreturn]] void fail(std::string_view place, std::string_view what) const {
    throw InternalError(fmt::format("kernel {}: {}: {}.", kernel_.name, place, what));
  }
  [[noreturn]] void fail(const Instruction& instruction, std::string_view what) const {
    const std::string result = instruction.results.empty() ? "" : fmt::format(" (value {})", instruction.results[0].id);
    fail(fmt::format("{}{}", name_of(instruction.op), result), what);
  }
  void require_different(std::vector<std::string_view>& names, std::string_view place) const {
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
      fail(place, fmt::format("two are named {}; expected different names", *twice));
  }
  void require(bool holds, const Instruction& instruction, std::string_view what) const {
    if (!holds) fail(instruction, what);
  }

  Dtype type(Value value) const { return kernel_.types[static_cast<size_t>(value.id)]; }
  bool varies(Value value) const { return varying_[static_cast<size_t>(value.id)]; }

  void require_visible(const Instruction& instruction, Value value) const {
    const bool numbered = value.id >= 0 && value.id < static_cast<int32_t>(kernel_.types.size());
    if (!numbered || !visible_[static_cast<size_t>(value.id)]) {
      fail(instruction,
           fmt::format("uses value {}, which is not visible here; expected one defined before, in this block or around it", value.id));
    }
  }

  void require_type(const Instruction& instruction, Value value, Dtype wanted, std::string_view what) const {
    if (type(value) == wanted) return;
    fail(instruction, fmt::format("{} of type {}; expected {}", what, to_string(type(value)), to_string(wanted)));
  }

  void define(const Instruction& instruction, Value value, Dtype wanted, bool varying) {
    if (value.id < 0 || value.id >= static_cast<int32_t>(kernel_.types.size()))
      fail(instruction, fmt::format("defines value {}", value.id));
    const auto at = static_cast<size_t>(value.id);
    if (defined_[at]) fail(instruction, fmt::format("defines value {} a second time", value.id));
    require_type(instruction, value, wanted, "a result");
    defined_[at] = true;
    visible_[at] = true;
    varying_[at] = varying;
    scope_.push_back(value);
  }

  // Walks a block, runs `at_end` where its values are still visible, then hides them.
  template <class AtEnd>
  void block(const Block& instructions, AtEnd&& at_end) {
    const size_t before = scope_.size();
    for (const Instruction& instruction : instructions) check(instruction);
    at_end();
    hide(before);
  }

  void hide(size_t before) {
    for (size_t i = before; i < scope_.size(); ++i) visible_[static_cast<size_t>(scope_[i].id)] = false;
    scope_.resize(before);
  }

  void check(const Instruction& instruction) {
    for (Value value : instruction.args) require_visible(instruction, value);
    const bool structured = instruction.op == Op::For || instruction.op == Op::Reduce || instruction.op == Op::If;
    require(structured || (instruction.body.empty() && instruction.yields.empty()), instruction,
            "has a body; expected one on loops and If only");
    require(instruction.op == Op::If || instruction.otherwise.empty(), instruction, "has a second body; expected one on If only");
    if (is_pure(instruction.op)) return check_pure(instruction);
    switch (instruction.op) {
      case Op::Constant:
      case Op::Size: return check_leaf(instruction);
      case Op::Load:
      case Op::Store: return check_memory(instruction);
      case Op::For: return check_for(instruction);
      case Op::Reduce: return check_reduce(instruction);
      case Op::If: return check_if(instruction);
      default: return check_call(instruction);
    }
  }

  bool any_varies(std::span<const Value> values) const {
    bool any = false;
    for (Value value : values) any = any || varies(value);
    return any;
  }

  void check_pure(const Instruction& instruction) {
    InlineVector<Dtype, 4> types;
    for (Value value : instruction.args) types.push_back(type(value));
    if (const std::string broken = broken_rule(instruction.op, instruction.type, types); !broken.empty()) fail(instruction, broken);
    require(instruction.results.size() == 1, instruction, "expected one result");
    define(instruction, instruction.results[0], instruction.type, any_varies(instruction.args));
  }

  void check_leaf(const Instruction& instruction) {
    require(instruction.results.size() == 1 && instruction.args.empty(), instruction, "expected one result and no operand");
    if (instruction.op == Op::Size) {
      require(instruction.integer >= 0 && instruction.integer < static_cast<int64_t>(kernel_.dims.size()), instruction,
              fmt::format("number {}; expected one of {} dims", instruction.integer, kernel_.dims.size()));
      require(instruction.type == Dtype::i64, instruction, "expected type i64");
    } else {
      require(instruction.type != Dtype::f16 && instruction.type != Dtype::bf16, instruction, "f16 or bf16; expected f32 or f64");
      const Instruction rounded = constant_of(instruction.type, scalar_of(instruction));
      const bool exact = instruction.number != instruction.number || rounded.number == instruction.number || !is_floating(instruction.type);
      require(exact && (is_floating(instruction.type) || rounded.integer == instruction.integer), instruction,
              fmt::format("a number that {} cannot hold", to_string(instruction.type)));
    }
    define(instruction, instruction.results[0], instruction.type, false);
  }

  const Buffer& buffer(const Instruction& instruction, int32_t number) const {
    const bool exists = number >= 0 && number < static_cast<int32_t>(kernel_.buffers.size());
    require(exists, instruction, fmt::format("buffer {}; expected one of {}", number, kernel_.buffers.size()));
    return kernel_.buffers[static_cast<size_t>(number)];
  }

  void check_memory(const Instruction& instruction) {
    const Buffer& memory = buffer(instruction, instruction.buffer);
    const Dtype loaded = loaded_as(memory.type);
    const bool load = instruction.op == Op::Load;
    require(instruction.args.size() == (load ? 1 : 2), instruction, load ? "expected an offset" : "expected an offset and a value");
    require_type(instruction, instruction.args[0], Dtype::i64, "an offset");
    if (load) {
      require(instruction.results.size() == 1 && instruction.type == loaded, instruction, "expected one result of the buffer's type");
      define(instruction, instruction.results[0], loaded, varies(instruction.args[0]));
      return;
    }
    require(instruction.results.empty(), instruction, "expected no result");
    require(is_written(memory.access), instruction,
            fmt::format("writes buffer {}, which is only read; expected Out or InOut", memory.name));
    require_type(instruction, instruction.args[1], loaded, "a stored value");
  }

  void check_for(const Instruction& loop) {
    check_loop_values(loop);
    const bool serial = loop.kind == LoopKind::Serial || loop.kind == LoopKind::Runs;
    const bool lanes = loop.kind == LoopKind::Vector || loop.kind == LoopKind::Elements, parallel = !serial && !lanes;
    const std::string_view name = name_of(loop.kind);
    if (parallel)
      require(!around_.lanes && !around_.parallel, loop,
              fmt::format("{} in another Parallel, Each, Ranges, Vector, Elements or Reduce loop", name));
    if (lanes || loop.kind == LoopKind::Runs)
      require(!around_.lanes, loop, fmt::format("{} in another Vector, Elements or Reduce loop", name));
    if (serial && around_.lanes)
      require(!varies(loop.args[0]) && !varies(loop.args[1]), loop, "bounds that differ between the lanes around it");

    const Around saved = around_;
    around_.parallel = around_.parallel || parallel;
    around_.lanes = around_.lanes || lanes;
    const size_t before = scope_.size();
    if (loop.kind != LoopKind::Runs) define(loop, loop.index, Dtype::i64, lanes);
    for (size_t i = 0; i < loop.carried.size(); ++i)
      define(loop, loop.carried[i], loop.kind == LoopKind::Serial ? type(loop.args[i + 2]) : Dtype::i64, around_.lanes);
    block(loop.body, [&] {
      for (size_t i = 0; i < loop.yields.size(); ++i) {
        require_visible(loop, loop.yields[i]);
        require_type(loop, loop.yields[i], type(loop.carried[i]), "a next value");
      }
    });
    hide(before);
    around_ = saved;
    for (size_t i = 0; i < loop.results.size(); ++i) define(loop, loop.results[i], type(loop.args[i + 2]), around_.lanes);
  }

  // What a loop of each kind has: bounds, work or grain, carried values.
  void check_loop_values(const Instruction& loop) {
    require(loop.args.size() >= 2, loop, "expected begin and end");
    require_type(loop, loop.args[0], Dtype::i64, "begin");
    require_type(loop, loop.args[1], Dtype::i64, "end");
    const bool serial = loop.kind == LoopKind::Serial, in_parts = loop.kind == LoopKind::Ranges || loop.kind == LoopKind::Runs;
    const size_t others = loop.args.size() - 2;
    if (serial) {
      require(loop.carried.size() == others && loop.yields.size() == others && loop.results.size() == others, loop,
              "expected as many initial, carried, next and resulting values");
    } else {
      const bool has_work = in_parts || loop.kind == LoopKind::Each;
      require(others == (has_work ? 1 : 0) && loop.yields.empty() && loop.results.empty() && !loop.reverse, loop,
              has_work ? "expected bounds and work, and neither results nor reverse"
                       : "carries values or runs in reverse; expected that of Serial loops only");
      if (has_work) require_type(loop, loop.args[2], Dtype::i64, "the work");
      require(loop.carried.size() == (in_parts ? 2 : 0), loop, "expected begin and end of a range of Ranges and Runs loops only");
    }
    require(loop.kind == LoopKind::Parallel ? static_cast<bool>(loop.grain) : !loop.grain, loop, "expected a grain on Parallel loops only");
    if (loop.grain) {
      require_visible(loop, loop.grain);
      require_type(loop, loop.grain, Dtype::i64, "a grain");
    }
  }

  void check_reduce(const Instruction& reduce) {
    require(reduce.args.size() == 2, reduce, "expected begin and end");
    require_type(reduce, reduce.args[0], Dtype::i64, "begin");
    require_type(reduce, reduce.args[1], Dtype::i64, "end");
    require(!around_.lanes, reduce, "in a Vector or Reduce loop");
    const size_t count = reduce.combine.size();
    require(count > 0 && reduce.yields.size() == count && reduce.results.size() == count, reduce,
            "expected as many combinations, contributed and resulting values, and at least one");
    const Around saved = around_;
    around_.lanes = true;
    const size_t before = scope_.size();
    define(reduce, reduce.index, Dtype::i64, true);
    block(reduce.body, [&] {
      for (size_t i = 0; i < count; ++i) {
        require_visible(reduce, reduce.yields[i]);
        if (const std::string broken = broken_rule(reduce.combine[i], type(reduce.yields[i])); !broken.empty()) fail(reduce, broken);
      }
    });
    hide(before);
    around_ = saved;
    for (size_t i = 0; i < count; ++i) define(reduce, reduce.results[i], type(reduce.yields[i]), false);
  }

  void check_if(const Instruction& branch) {
    require(branch.args.size() == 1 && branch.results.empty() && branch.yields.empty(), branch, "expected a condition and no result");
    require_type(branch, branch.args[0], Dtype::b8, "a condition");
    require(!around_.lanes || !varies(branch.args[0]), branch, "a condition that differs between lanes; expected Select");
    block(branch.body, [] {});
    block(branch.otherwise, [] {});
  }

  void check_call(const Instruction& call) {
    require(!call.name.empty() && call.results.empty(), call, "expected a name and no result");
    require(call.args.size() >= call.buffers.size(), call, "expected an offset for each buffer");
    for (int32_t number : call.buffers) buffer(call, number);
    for (Value value : call.args) require_type(call, value, Dtype::i64, "an operand");
    require(!around_.lanes, call, "in a Vector or Reduce loop");
  }

  const Kernel& kernel_;
  std::vector<bool> visible_;
  std::vector<bool> defined_;
  std::vector<bool> varying_;  // differs between the lanes of the Vector or Reduce loop around its definition
  std::vector<Value> scope_;   // visible values in the order of definition
  Around around_;
};

}  // namespace

void verify(const Kernel& kernel) { Verifier(kernel).run(); }

}  // namespace anyshape::loop
