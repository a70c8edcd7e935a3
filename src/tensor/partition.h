// How the values of a ragged tensor fall into rows: row r is values[splits[r]] up to values[splits[r + 1]]. Made and validated once, shared
// by every tensor with the same rows: whether two tensors have equal rows is then a comparison of pointers.
#pragma once
#include <anyshape/tensor.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace anyshape {

struct Partition {
  Tensor splits;  // i64[rows + 1], row-major; inside a trace without a value
  Dim rows;
  Dim total;                   // elements of all rows together
  Dim shortest;                // exact outside a trace; inside, no row is shorter
  std::optional<Dim> longest;  // exact; nothing where the splits are computed inside a trace
  Dim axis;                    // the ragged axis of the shapes

  bool is_concrete() const;                      // the splits have values
  std::span<const int64_t> host_splits() const;  // of a concrete one
};

// From splits with values: i64[rows + 1] that start at 0 and never decrease. ShapeError or DataError otherwise; `place` opens the text.
std::shared_ptr<const Partition> make_partition(const Tensor& splits, std::string_view place);
// For splits that are a traced tensor. `name` is shown in shapes.
std::shared_ptr<const Partition> make_traced_partition(Tensor splits, Dim rows, Dim total, Dim shortest, std::optional<Dim> longest,
                                                       std::string name);
bool have_equal_splits(const Partition& a, const Partition& b);  // of concrete ones

// What a ragged Tensor handle points at besides its dtype and rank.
struct RaggedTensor {
  Tensor values;  // [total, ...]
  std::shared_ptr<const Partition> partition;
};

// Values [partition.total, ...] as the rows of a ragged tensor.
Tensor make_ragged(const Tensor& values, std::shared_ptr<const Partition> partition);
// Null for a dense tensor.
const RaggedTensor* as_ragged(const Tensor& tensor);

}  // namespace anyshape
