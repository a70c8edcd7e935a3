// A table by address in one piece of memory. Passes ask such tables about every value of a graph: entries that are allocated one by one lie all
// over memory, and a deep graph does not fit a cache then.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace anyshape {

template <class Key, class T>
class PointerTable {
 public:
  explicit PointerTable(size_t expected = 0) {
    while (entries_.size() * 3 < expected * 4) entries_.resize(entries_.empty() ? 16 : entries_.size() * 2);
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // A new one is T(). References hold until the next one is added.
  T& operator[](const Key* key) {
    if ((size_ + 1) * 4 > entries_.size() * 3) grow();
    Entry& entry = entries_[slot_of(key)];
    if (entry.key == nullptr) {
      entry.key = key;
      ++size_;
    }
    return entry.value;
  }

  void clear() {
    if (size_ > 0) std::fill(entries_.begin(), entries_.end(), Entry());
    size_ = 0;
  }

  const T* find(const Key* key) const {
    if (entries_.empty()) return nullptr;
    const Entry& entry = entries_[slot_of(key)];
    return entry.key == key ? &entry.value : nullptr;
  }

 private:
  struct Entry {
    const Key* key = nullptr;
    T value{};
  };

  // Where the key is, or the free entry at which its search ends: there always is one.
  size_t slot_of(const Key* key) const {
    const size_t mask = entries_.size() - 1;
    size_t slot = (reinterpret_cast<uintptr_t>(key) * 0x9e3779b97f4a7c15U >> 32U) & mask;
    while (entries_[slot].key != nullptr && entries_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 16 : entries_.size() * 2));
    for (Entry& entry : old) {
      if (entry.key != nullptr) entries_[slot_of(entry.key)] = std::move(entry);
    }
  }

  std::vector<Entry> entries_;  // as many as a power of two
  size_t size_ = 0;
};

}  // namespace anyshape
