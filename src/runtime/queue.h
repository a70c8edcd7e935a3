// Where a program's work goes whose items the host runs one after the other (item_run.h): kernels, calls of the target's library and copies, in order.
#pragma once
#include "runtime/failure.h"
#include "runtime/library.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace anyshape::runtime {

// For one run, or for one of the blocks of rows that run side by side. What returns false has failed, as failure() says; nothing more is
// to be asked.
class Queue : public Library {
 public:
  // A kernel launch of the program. The spans are the caller's: they change when it returns.
  [[nodiscard]] virtual bool launch(size_t launch, std::span<void* const> buffers, std::span<const int64_t> dims) = 0;
  // Within the backend's memory.
  virtual void copy(void* to, const void* from, int64_t bytes) = 0;
  // Where the host reads them, when all before is done; good until the queue ends. Null: something failed.
  virtual const void* read(const void* from, int64_t bytes) = 0;
  virtual Failure failure() const = 0;
  // Calls body(i, queue) for every i < count, each with a queue of its own; those may run at the same time. Returns when all of them have
  // returned; the exception of the lowest is thrown.
  template <class F>
  void run_beside(int64_t count, F&& body) {
    call_beside(
        count, [](const void* state, int64_t i, Queue& queue) { (*static_cast<const std::remove_reference_t<F>*>(state))(i, queue); },
        &body);
  }

 protected:
  ~Queue() = default;
  using Body = void (*)(const void* state, int64_t i, Queue& queue);
  virtual void call_beside(int64_t count, Body body, const void* state) = 0;
};

}  // namespace anyshape::runtime
