// Values of a scope by what computes them, in one piece of memory. Private to the builder.
#pragma once
#include "loop/ir.h"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace anyshape::loop {

using SharingKey = std::array<int32_t, 6>;  // op, type, buffer, operands

class SharedValues {
 public:
  Value find(const SharingKey& key) const { return entries_.empty() ? Value{} : entries_[slot_of(key)].value; }  // none: not computed yet
  void set(const SharingKey& key, Value value) {
    if ((size_ + 1) * 4 > entries_.size() * 3) grow();
    Entry& entry = entries_[slot_of(key)];
    size_ += entry.value ? 0 : 1;
    entry = {key, value};
  }

 private:
  struct Entry {
    SharingKey key;
    Value value;  // none: the entry is free
  };

  // Where the key is, or the free entry at which its search ends: there always is one.
  size_t slot_of(const SharingKey& key) const {
    uint64_t hash = 0;
    for (const int32_t part : key) hash = (hash ^ static_cast<uint32_t>(part)) * 0x9e3779b97f4a7c15U;
    const size_t mask = entries_.size() - 1;
    size_t slot = hash >> 32U & mask;
    while (entries_[slot].value && entries_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.empty() ? 16 : entries_.size() * 2));
    for (const Entry& entry : old) {
      if (entry.value) entries_[slot_of(entry.key)] = entry;
    }
  }

  std::vector<Entry> entries_;  // as many as a power of two
  size_t size_ = 0;
};

}  // namespace anyshape::loop
