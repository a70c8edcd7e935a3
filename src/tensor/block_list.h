// A list of free blocks of one size class, linked through the blocks themselves, so that keeping one never allocates.
#pragma once
#include <cstdint>

namespace anyshape {

class BlockList {
 public:
  int64_t count() const { return count_; }
  bool empty() const { return head_ == nullptr; }

  void push(void* block) {
    auto* link = static_cast<Link*>(block);
    link->next = head_;
    if (head_ == nullptr) tail_ = link;
    head_ = link;
    ++count_;
  }

  // Null where the list is empty.
  void* pop() {
    Link* link = head_;
    if (link == nullptr) return nullptr;
    head_ = link->next;
    --count_;
    return link;
  }

  // Takes everything out of `other`.
  void splice(BlockList& other) {
    if (other.empty()) return;
    other.tail_->next = head_;
    if (head_ == nullptr) tail_ = other.tail_;
    head_ = other.head_;
    count_ += other.count_;
    other = BlockList();
  }

 private:
  struct Link {
    Link* next;
  };
  Link* head_ = nullptr;
  Link* tail_ = nullptr;  // valid where head_ is set
  int64_t count_ = 0;
};

}  // namespace anyshape
