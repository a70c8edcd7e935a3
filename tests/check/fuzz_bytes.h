// Bytes as a source of decisions: whatever they are, they decode to a call of some op with tensors and attributes, right or wrong. Tensors
// are small, and no shape that is accepted asks for much memory.
#pragma once
#include "check/corner_box.h"

#include <span>
#include <string>
#include <vector>

namespace anyshape::check {

// The kind of a call is what code is made for: the op, ranks, dtypes, most attributes. Sizes and numbers vary from call to call of a kind.
struct FuzzInput {
  std::vector<uint8_t> kind;
  std::vector<uint8_t> values;
};

class FuzzBytes {
 public:
  FuzzBytes(std::span<const uint8_t> kind, std::span<const uint8_t> values) : kind_(kind), values_(values) {}

  // Decisions on the kind; limit <= 256, and 0 when the bytes are used up.
  int64_t below(int64_t limit) { return take(kind_, limit); }
  bool chance(int percent) { return below(100) < percent; }
  size_t index(size_t count) { return static_cast<size_t>(below(256) * 256 + below(256)) % count; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[index(from.size())];
  }
  // Decisions on sizes and numbers, likewise.
  int64_t value_below(int64_t limit) { return take(values_, limit); }
  bool value_chance(int percent) { return value_below(100) < percent; }
  uint64_t value_seed() { return static_cast<uint64_t>(value_below(256) * 256 + value_below(256)); }

  Dtype dtype();
  View view() { return all_views[below(std::size(all_views))]; }
  Tensor tensor(int64_t elements = 64);           // at most so many; rarely a handle on nothing or a host number
  Tensor like(const Tensor& x);                   // x's sizes, some of them 1, left out or another
  Tensor indices(const Tensor& x, int64_t axis);  // mostly inside the axis, else at and beyond every end
  Tensor indices_below(int64_t size, const Sizes& sizes);
  int64_t axis(const Tensor& x);  // [-rank - 1, rank], and far outside
  std::vector<int64_t> axes(const Tensor& x);
  int64_t number();              // -1, 0, 1, 2, 2^31, the ends of i64; and small ones
  Shape shape(const Tensor& x);  // near x's sizes, with -1, or beyond what can be counted

  const std::string& text() const { return text_; }  // what was decoded so far
  void say(const std::string& what) { text_ += what + " "; }

 private:
  static int64_t take(std::span<const uint8_t>& from, int64_t limit);

  std::span<const uint8_t> kind_, values_;  // what is left of them
  std::string text_;
};

}  // namespace anyshape::check
