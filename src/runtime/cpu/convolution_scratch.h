// Memory that a thread keeps for its tasks of convolutions: tables, panels and copies, as large as work is cut, not as images are.
#pragma once
#include "base/thread_object.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace anyshape::runtime {

// Memory for `count` plain values, whose contents are lost where it grows.
template <class T>
class ScratchArray {
 public:
  T* at_least(int64_t count) {
    if (count > count_) {
      memory_.reset();
      count_ = 0;
      const size_t bytes = (static_cast<size_t>(count) * sizeof(T) + 63) / 64 * 64;
      memory_.reset(static_cast<T*>(std::aligned_alloc(64, bytes)));
      if (memory_ == nullptr) throw std::bad_alloc();
      count_ = count;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(T* memory) const { std::free(static_cast<void*>(memory)); }
  };
  std::unique_ptr<T, Free> memory_;
  int64_t count_ = 0;
};

struct ConvolutionScratch {
  ScratchArray<float> panels, copies;
  ScratchArray<const float*> sources, weights;
  ScratchArray<int64_t> results;
  ScratchArray<uint8_t> marks;

  static ConvolutionScratch& of_this_thread() { return ThreadObject<ConvolutionScratch, ConvolutionScratch>::get(); }
};

}  // namespace anyshape::runtime
