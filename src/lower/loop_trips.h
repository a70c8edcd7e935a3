// How often the instructions of a kernel run, as formulas: the mean length of each loop over all the times it is entered. A loop over a
// part of a split one is n / parts long in the mean, and the loop over the parts runs `parts` times: what remains is n.
#pragma once
#include "loop/ir.h"

#include <anyshape/dim.h>

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace anyshape::lower {

// A size over a size, in lowest terms as far as polynomials go.
class Quotient {
 public:
  Quotient(Dim above, Dim below = 1);
  Quotient operator*(const Quotient& other) const;
  std::optional<Dim> whole() const;  // none where something is left below
  const Dim& above() const { return above_; }

 private:
  Dim above_, below_;
};

class LoopTrips {
 public:
  LoopTrips(const loop::Kernel& kernel, const std::vector<Dim>& dims);

  // None: the length stands in the data.
  std::optional<Quotient> of(const loop::Instruction& loop);  // For, Reduce: its iterations
  std::optional<Quotient> mean(loop::Value value);            // of an i64
  bool is_from_memory(loop::Value value) const { return from_memory_[static_cast<size_t>(value.id)]; }
  bool is_bound() const { return is_bound_; }  // one of the answers was the most it can be
  // Whether it is the number of parts a loop was split into, or a multiple of it: what runs so often joins partial results.
  bool is_overhead(const Quotient& runs) const;

 private:
  void read(const loop::Block& block);
  const loop::Instruction* definition(loop::Value value) const { return definitions_[static_cast<size_t>(value.id)]; }
  const loop::Instruction* definition(loop::Value value, loop::Op op) const;  // null where it is no such instruction
  const std::optional<Dim>& exact(loop::Value value) const { return exact_[static_cast<size_t>(value.id)]; }
  std::optional<Dim> evaluate(const loop::Instruction& instruction) const;
  std::optional<Dim> difference(loop::Value sum, loop::Value base) const;  // sum - base
  bool is_together(loop::Value count) const;
  loop::Value without_those_together(loop::Value begin) const;
  std::optional<Quotient> length(loop::Value begin, loop::Value end);
  std::optional<Quotient> row_length(loop::Value begin, loop::Value end) const;
  std::optional<Quotient> mean_of_minimum(const loop::Instruction& minimum);
  std::optional<Quotient> mean_of_select(const loop::Instruction& select);
  std::optional<Quotient> mean_of_quotient(const loop::Instruction& quotient);
  Dim parts(loop::Value begin, loop::Value end, const Dim& part);  // how many a length is split into; no begin: 0
  std::optional<Quotient> part_of(loop::Value begin, loop::Value end, const Dim& part);

  struct Rows {
    Dim count, total;
  };
  const std::vector<Dim>& dims_;
  std::vector<const loop::Instruction*> definitions_;
  std::vector<std::optional<Dim>> exact_;                               // of values that no loop changes
  std::vector<bool> from_memory_;                                       // computed from something loaded
  std::unordered_map<int32_t, Rows> rows_;                              // of buffers that hold row splits
  std::map<std::tuple<int32_t, int32_t, int64_t>, Dim> unknown_parts_;  // of lengths that stand in the data: begin, end, part
  std::vector<Dim> splits_;                                             // numbers of parts that can be told from other sizes
  bool is_bound_ = false;
};

}  // namespace anyshape::lower
