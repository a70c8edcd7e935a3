// Arrays on the host and the plainest loops over them: what compiled code is compared with. Values are small integers, so that sums are
// exact in any order.
#pragma once
#include <anyshape/tensor.h>

#include <functional>
#include <random>
#include <vector>

namespace anyshape::test {

using Sizes = std::vector<int64_t>;

struct HostArray {
  Sizes sizes;
  std::vector<float> values;

  Tensor tensor() const { return anyshape::tensor(values, Shape(std::span<const int64_t>(sizes))); }
  // Axes beyond the array's rank are leading ones, and a size of 1 repeats, as in broadcasting.
  float at(const Sizes& index) const {
    const size_t skipped = index.size() - sizes.size();
    int64_t offset = 0;
    for (size_t axis = 0; axis < sizes.size(); ++axis) offset = offset * sizes[axis] + (sizes[axis] == 1 ? 0 : index[axis + skipped]);
    return values[static_cast<size_t>(offset)];
  }
};

inline void for_each_index(const Sizes& sizes, const std::function<void(const Sizes&)>& body) {
  Sizes index(sizes.size(), 0);
  for (int64_t size : sizes) {
    if (size == 0) return;
  }
  while (true) {
    body(index);
    size_t axis = sizes.size();
    while (axis > 0 && ++index[axis - 1] == sizes[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

inline HostArray make(const Sizes& sizes, const std::function<float(const Sizes&)>& element) {
  HostArray result{sizes, {}};
  for_each_index(sizes, [&](const Sizes& index) { result.values.push_back(element(index)); });
  return result;
}

// Adds every element of x into the element of `sizes` that `where` names.
inline HostArray accumulate(const HostArray& x, const Sizes& sizes, const std::function<Sizes(const Sizes&)>& where) {
  HostArray result = make(sizes, [](const Sizes&) { return 0.0f; });
  for_each_index(x.sizes, [&](const Sizes& index) {
    int64_t offset = 0;
    const Sizes target = where(index);
    for (size_t axis = 0; axis < sizes.size(); ++axis) offset = offset * sizes[axis] + target[axis];
    result.values[static_cast<size_t>(offset)] += x.at(index);
  });
  return result;
}

class RandomArrays {
 public:
  explicit RandomArrays(unsigned seed) : numbers_(seed) {}
  int64_t below(int64_t end) { return static_cast<int64_t>(numbers_() % static_cast<uint64_t>(end)); }
  Sizes sizes(size_t rank) {
    constexpr int64_t choices[] = {0, 1, 2, 17, 33, 70};
    while (true) {
      Sizes result(rank);
      int64_t count = 1;
      for (int64_t& size : result) count *= size = choices[below(6)];
      if (count <= 20000) return result;  // the interpreter is slow
    }
  }
  HostArray array(const Sizes& sizes) {
    return make(sizes, [&](const Sizes&) { return static_cast<float>(below(9) - 4); });
  }

 private:
  std::mt19937_64 numbers_;
};

}  // namespace anyshape::test
