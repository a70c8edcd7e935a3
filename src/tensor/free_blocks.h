// A list of free blocks of one size class. The links stand in what is known of a block, not in its memory, and keeping one never allocates.
#pragma once
#include "tensor/block.h"

#include <cstdint>

namespace anyshape {

class FreeBlocks {
 public:
  int64_t count() const { return count_; }
  bool empty() const { return head_ == nullptr; }

  void push(Block& block) {
    block.next = head_;
    if (head_ == nullptr) tail_ = &block;
    head_ = &block;
    ++count_;
  }

  // Null where the list is empty.
  Block* pop() {
    Block* const block = head_;
    if (block == nullptr) return nullptr;
    head_ = block->next;
    --count_;
    return block;
  }

  // Takes everything out of `other`.
  void splice(FreeBlocks& other) {
    if (other.empty()) return;
    other.tail_->next = head_;
    if (head_ == nullptr) tail_ = other.tail_;
    head_ = other.head_;
    count_ += other.count_;
    other = FreeBlocks();
  }

 private:
  Block* head_ = nullptr;
  Block* tail_ = nullptr;  // valid where head_ is set
  int64_t count_ = 0;
};

}  // namespace anyshape
