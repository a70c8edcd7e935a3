// Many sizes evaluated at once on the call path: straight-line code over a table of integers, without allocation or look-up. Sizes that
// depend on data wait: the program runs in stages, one more for every symbol whose value comes later.
#pragma once
#include <anyshape/dim.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "shape/dim_node.h"

namespace anyshape {

// The first slots hold the symbols' values in the order given, those that come late after the others; then comes what `add` asked for, and
// what that needs. Equal expressions share a slot.
class DimProgram {
 public:
  DimProgram() = default;
  // `late` symbols get their values one after the other, in this order.
  explicit DimProgram(std::span<const Dim> symbols, std::span<const Dim> late = {});

  int add(const Dim& dim);  // its slot; TraceError for a symbol that is not one of the program's
  int slot_count() const { return static_cast<int>(stage_of_.size()); }
  int stage_of(int slot) const { return stage_of_[static_cast<size_t>(slot)]; }  // 0: known from the start; k: with late symbol k - 1

  // Fills the slots of stage 0. ShapeError where a size overflows or divides by zero; `out` is then partly filled.
  void run(const int64_t* symbol_values, int64_t* out) const;
  // Fills those of a later stage, once its symbol has a value; the stages before it are there. May be done again with another value.
  void resume(int stage, int64_t value, int64_t* out) const;

 private:
  enum class Operation : uint8_t { Constant, AddProduct, Multiply, FloorDivide, Modulo, Min, Max, Bcast };
  struct Instruction {
    Operation operation;
    int32_t a = 0;
    int32_t b = 0;
    int64_t constant = 0;  // Constant: the value; AddProduct: out[a] * constant + out[b]
    int32_t slot = 0;      // of the result
  };
  int add_instruction(Instruction instruction, const Dim& dim);
  int add_node(const Dim& dim);
  int add_atom(const Atom& atom, const Dim& whole);
  void run_stage(const std::vector<Instruction>& instructions, int64_t* out) const;
  [[noreturn]] void report(const Instruction& instruction, const int64_t* out) const;

  size_t early_ = 0;          // symbols known from the start
  std::vector<Dim> symbols_;  // those, then the late ones
  std::vector<std::vector<Instruction>> stages_;
  std::vector<int> stage_of_;  // per slot
  std::vector<Dim> wholes_;    // per slot: the size it is a part of, for errors
  std::unordered_map<Dim, int, DimHash, DimSame> slots_;
};

}  // namespace anyshape
