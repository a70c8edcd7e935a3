// Many sizes evaluated at once on the call path: straight-line code over a table of integers, without allocation or look-up.
#pragma once
#include <anyshape/dim.h>

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "shape/dim_node.h"

namespace anyshape {

// Slots [0, symbols) hold the symbols' values in the order given; later ones hold what `add` asked for, and what that needs.
// Equal expressions share a slot.
class DimProgram {
 public:
  DimProgram() = default;
  explicit DimProgram(std::span<const Dim> symbols);

  int add(const Dim& dim);  // its slot; TraceError for a symbol that is not one of the program's
  int symbol_count() const { return symbol_count_; }
  int slot_count() const { return symbol_count_ + static_cast<int>(steps_.size()); }

  // Fills out[0, slot_count()). ShapeError where a size overflows or divides by zero; `out` is then partly filled.
  void run(const int64_t* symbol_values, int64_t* out) const;

 private:
  enum class Operation : uint8_t { Constant, AddProduct, Multiply, FloorDivide, Modulo, Min, Max, Bcast };
  struct Step {
    Operation operation;
    int32_t a = 0;
    int32_t b = 0;
    int64_t constant = 0;  // Constant: the value; AddProduct: out[a] * constant + out[b]
  };
  int add_step(Step step, const Dim& dim);
  int add_node(const Dim& dim);
  int add_atom(const Atom& atom, const Dim& whole);
  [[noreturn]] void report(size_t step, const int64_t* out) const;

  int symbol_count_ = 0;
  std::vector<Dim> symbols_;
  std::vector<Step> steps_;
  std::vector<Dim> wholes_;  // per step: the size it is a part of, for errors
  std::unordered_map<Dim, int, DimHash, DimSame> slots_;
};

}  // namespace anyshape
