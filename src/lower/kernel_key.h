// What a kernel is written from, as numbers: groups with equal keys have the same loops, over other values and buffers. So the second of two equal layers is
// found before it is lowered.
#pragma once
#include "lower/group.h"
#include "shape/dim_node.h"

#include <unordered_map>
#include <vector>

namespace anyshape::lower {

// Sizes by numbers: the same expression has the same one.
class SizeNumbers {
 public:
  uint64_t operator[](const Dim& size) {
    if (size.is_constant()) return static_cast<uint64_t>(size.value()) * 2 + 1;
    return numbers_.try_emplace(size, numbers_.size() * 2).first->second;
  }

 private:
  std::unordered_map<Dim, uint64_t, DimHash, DimSame> numbers_;
};

bool finds_equal_groups();  // unless switched off by "equal_groups"

class KernelKey {
 public:
  using Words = std::vector<uint64_t>;
  using FindBuffer = std::function<int(const graph::Value*)>;  // -1: the value is in no buffer
  struct Hash {
    size_t operator()(const Words& words) const;
  };

  // Without `find_buffer` every value has a buffer of its own.
  KernelKey(SizeNumbers& sizes, const Groups& groups, FindBuffer find_buffer = {})
      : sizes_(sizes), groups_(groups), find_buffer_(std::move(find_buffer)) {
    words_.reserve(200);
  }

  void add(const graph::Node& root);       // all that is computed in the loops that end there
  void add(const PlannedKernel& planned);  // of one without an epilogue
  const Words& words() const { return words_; }
  Words take_words() { return std::move(words_); }
  // False: something in it is of one node alone, as the numbers that it draws or the place that is told where it fails.
  bool is_shared() const { return is_shared_; }

  // What equal keys have in common, by its number: in the order in which it was met.
  const std::vector<const graph::Value*>& values() const { return values_; }
  const std::vector<const graph::Node*>& nodes() const { return nodes_; }
  const std::vector<int>& buffers() const { return buffers_; }

  template <class All, class Each>
  static int number_in(const All& all, const Each& each) {  // -1: it is not there
    const auto found = std::ranges::find(all, each);
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
  }

 private:
  class Fields;
  void put(uint64_t word) { words_.push_back(word); }
  void put(int number) { words_.push_back(static_cast<uint64_t>(number)); }
  void put_shape(std::span<const Dim> sizes);
  void put_node(const graph::Node& node);
  void put_input(const graph::Value* value);
  void put_value(const graph::Value* value);  // one that is met for the first time
  void put_buffer(const graph::Value* value);
  void put_known(const graph::Value* value);
  void put_reads(const KernelReads& reads);
  bool is_computed(const graph::Value* value) const;

  SizeNumbers& sizes_;
  const Groups& groups_;
  FindBuffer find_buffer_;
  Words words_;
  std::vector<const graph::Value*> values_;
  std::vector<const graph::Node*> nodes_;
  std::vector<int> buffers_;
  const Roots* roots_ = nullptr;  // their results are computed, though they are in memory
  bool is_shared_ = true;
};

}  // namespace anyshape::lower
