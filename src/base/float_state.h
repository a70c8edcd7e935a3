// The floating-point state our kernels run in: denormals flushed (inputs and results), round to nearest, exceptions masked. Every thread that
// runs kernels, and the interpreter that defines them, holds one FlushDenormals; the caller's state comes back when it ends.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace anyshape {

class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : saved_(_mm_getcsr()) {
    // Writing MXCSR waits for the pipeline; inside a pool task the state is already right and a read is enough.
    if ((saved_ & ~sticky_flags) != kernel_state) _mm_setcsr(kernel_state);
  }
  ~FlushDenormals() {
    // Also takes back the sticky flags that kernels raised, so that the caller finds exactly what it had.
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned sticky_flags = 0x3F;
  static constexpr unsigned kernel_state = 0x8000U | 0x1F80U | 0x0040U;  // FTZ, all exceptions masked, DAZ; rounding bits 0 are to nearest
  unsigned saved_;
#else
  FlushDenormals() = default;
  ~FlushDenormals() = default;
#endif

 public:
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;
};

}  // namespace anyshape
