// The thread's context says which one.
#include "runtime/backends.h"

#include "base/thread_context.h"

#include <utility>

namespace anyshape::runtime {

Backend& current_backend() { return this_thread.backend != nullptr ? *this_thread.backend : cpu_backend(); }

ScopedBackend::ScopedBackend(Backend& backend) : outer_(std::exchange(this_thread.backend, &backend)) {}
ScopedBackend::~ScopedBackend() { this_thread.backend = outer_; }

}  // namespace anyshape::runtime
