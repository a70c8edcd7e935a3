// Bytes as a source of decisions: whatever they are, they decode to a call of some op with tensors and attributes, right or wrong. Tensors
// are small, and no shape that is accepted asks for much memory.
#pragma once
#include "check/corner_box.h"

#include <span>
#include <string>
#include <vector>

namespace anyshape::check {

class FuzzBytes {
 public:
  explicit FuzzBytes(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  int64_t below(int64_t limit);  // limit <= 256; 0 when the bytes are used up
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

  Dtype dtype();
  Tensor tensor(int64_t elements = 64);           // rarely a handle on nothing or a host number
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
  std::span<const uint8_t> bytes_;
  size_t next_ = 0;
  std::string text_;
};

// Decodes one call and runs it: eagerly or traced, with or without gradients. Empty where it came back in time with results or with an
// exception that a wrong call may have; else what happened and the call.
std::string run_fuzz_call(std::span<const uint8_t> bytes);

}  // namespace anyshape::check
