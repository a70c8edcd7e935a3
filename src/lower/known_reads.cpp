// Values and nodes by their numbers in the key.
#include "lower/known_reads.h"

#include <algorithm>

namespace anyshape::lower {

bool KnownReads::find(const KernelKey& key, KernelReads& found) const {
  if (!finds_equal_groups()) return false;
  const auto known = known_.find(key.words());
  if (known == known_.end()) return false;
  const Known& same = known->second;
  for (const Read& read : same.reads) found.reads.push_back({key.values()[static_cast<size_t>(read.value)], read.axes});
  for (const int number : same.indexed) {
    const graph::Node* const node = key.nodes()[static_cast<size_t>(number)];
    found.indexed.push_back(node);
    add_checked(*node, found);
  }
  found.joins = same.joins;
  found.open = same.open;
  return true;
}

void KnownReads::add(KernelKey key, const KernelReads& found) {
  Known known{.reads = {}, .indexed = {}, .joins = found.joins, .open = found.open};
  for (const MemoryRead& read : found.reads) known.reads.push_back({KernelKey::number_in(key.values(), read.value), read.axes});
  for (const graph::Node* node : found.indexed) known.indexed.push_back(KernelKey::number_in(key.nodes(), node));
  const bool is_in_key = std::ranges::none_of(known.reads, [](const Read& read) { return read.value < 0; }) &&
                         std::ranges::none_of(known.indexed, [](int number) { return number < 0; });
  if (is_in_key) known_.emplace(key.take_words(), std::move(known));
}

}  // namespace anyshape::lower
