// The steps that random programs are made of: each takes values that the program has computed and gives one more.
#pragma once
#include "check/corner_box.h"

#include <string>
#include <vector>

namespace anyshape::check {

inline constexpr int64_t matrix_width = 40;  // where it is not a symbol
inline constexpr int64_t block_width = 24;

// The values of a program by their shapes, and the numbers by which a step chooses among them.
struct ProgramDraft {
  Random random{0};
  Dim count;  // always a symbol
  Dim width;
  Tensor weight;                 // [width, width]
  Tensor indices;                // [5]; blocks alone have it
  std::vector<Tensor> matrices;  // [count, width]
  std::vector<Tensor> rows;      // [width]
  std::vector<Tensor> columns;   // [count, 1]
  std::vector<Tensor> scalars;   // []
  std::vector<Tensor> blocks;    // [count, width, width]

  Tensor pick(const std::vector<Tensor>& values);  // recent ones more often
  Tensor matrix() { return pick(matrices); }
  Tensor row() { return pick(rows); }
  Tensor column() { return pick(columns); }
  Tensor scalar() { return pick(scalars); }
  Tensor block() { return pick(blocks); }

  Tensor unary(const Tensor& value);  // one of many functions of each element
  Tensor binary(const Tensor& left, const Tensor& right);
};

// Values that sums and products have made large come back to between -1 and 1, where differences are seen.
Tensor bounded(const Tensor& value);

struct StepKind {
  std::string name;
  std::vector<Tensor> ProgramDraft::* result;  // where the new value belongs
  Tensor (*run)(ProgramDraft& draft);
  bool needs_known_width = false;
};

const std::vector<StepKind>& matrix_steps();
const std::vector<StepKind>& block_steps();

}  // namespace anyshape::check
