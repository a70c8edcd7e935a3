// The functions whose callables run on this thread: a function that is called by itself would never come to the end of its trace.
#pragma once
#include "base/thread_context.h"

#include <string>
#include <utility>

namespace anyshape::function_detail {

class Activation {
 public:
  explicit Activation(const void* function) : function_(function), outer_(std::exchange(this_thread.activation, this)) {}
  ~Activation() { this_thread.activation = outer_; }
  Activation(const Activation&) = delete;
  Activation& operator=(const Activation&) = delete;

  // TraceError where the function's callable runs already.
  static void require_none(const void* function, const std::string& name) {
    for (const Activation* each = this_thread.activation; each != nullptr; each = each->outer_) {
      if (each->function_ == function) refuse(name);
    }
  }

 private:
  [[noreturn]] static void refuse(const std::string& name);

  const void* function_;
  const Activation* outer_;
};

}  // namespace anyshape::function_detail
