// The backends there are, and which one a thread compiles for.
#pragma once
#include "runtime/backend.h"

namespace anyshape::runtime {

Backend& cpu_backend();          // this machine's processor: machine code on the pool
Backend& interpreter_backend();  // the same programs on the host, interpreted: the oracle of tests

// Of this thread: what it traces and calls eagerly is compiled by it. The processor unless a scope says otherwise.
Backend& current_backend();

class ScopedBackend {
 public:
  explicit ScopedBackend(Backend& backend);
  ~ScopedBackend();
  ScopedBackend(const ScopedBackend&) = delete;
  ScopedBackend& operator=(const ScopedBackend&) = delete;

 private:
  Backend* outer_;
};

}  // namespace anyshape::runtime
