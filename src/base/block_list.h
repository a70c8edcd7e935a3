// A list whose elements stay where they are, in a few large blocks of memory: walks over many of them go from one to the next.
#pragma once
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace anyshape {

template <class T>
class BlockList {
 public:
  size_t size() const { return size_; }

  T& push_back(T value) {
    if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) {
      const size_t room = blocks_.empty() ? first : std::min(most, 2 * blocks_.back().capacity());
      blocks_.emplace_back().reserve(room);
    }
    ++size_;
    return blocks_.back().emplace_back(std::move(value));
  }

 private:
  static constexpr size_t first = 4, most = 2048;  // elements of a block

  std::vector<std::vector<T>> blocks_;  // none is filled beyond what was reserved, so nothing moves
  size_t size_ = 0;
};

}  // namespace anyshape
