// The definition of the loop IR: a slow, obvious interpreter. The oracle of every test of generated code.
#pragma once
#include "loop/externs.h"
#include "loop/ir.h"

#include <span>

namespace anyshape::loop {

// Is told of each element that a kernel is about to read or write by itself; what routines touch is not told.
class MemoryWatch {
 public:
  virtual void read(const void* place, int64_t bytes) = 0;
  virtual void write(void* place, int64_t bytes) = 0;

 protected:
  ~MemoryWatch() = default;
};

// Runs a verified kernel. Returns 0, or the first non-zero result of a Call. Denormals are flushed and the caller's floating-point state is put back.
int32_t interpret(const Kernel& kernel, AsContext* context, std::span<void* const> buffers, std::span<const int64_t> dims,
                  ExternLookup externs, MemoryWatch* watch = nullptr);

}  // namespace anyshape::loop
