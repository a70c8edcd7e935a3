// Kernels by number, in an order in which one moves behind another without a look at the rest.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anyshape::lower {

class KernelOrder {
 public:
  explicit KernelOrder(size_t count);  // 0, 1, 2, ...

  bool is_before(size_t a, size_t b) const { return labels_[a] < labels_[b]; }
  void remove(size_t kernel);
  void move_behind(size_t kernel, size_t other);
  std::vector<size_t> in_order() const;

 private:
  void number_anew();

  static constexpr uint64_t gap = uint64_t{1} << 32;  // between two labels at first: halved by what comes between
  // The position behind the last kernel is the end and the beginning of the ring.
  std::vector<size_t> next_, previous_;
  std::vector<uint64_t> labels_;
};

}  // namespace anyshape::lower
