// The process's random state: one key, and a range of counters for every top-level call.
#pragma once
#include "runtime/executable.h"

namespace anyshape::function_detail {

runtime::RandomState next_random_state();

// While one lives, what runs on this thread draws as one call from a state of its own: the eager ops of a callable give the numbers that
// its compiled graph gives for that state.
class RandomScope {
 public:
  explicit RandomScope(runtime::RandomState state);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  runtime::RandomState state_;
  runtime::RandomState* outer_;
};

}  // namespace anyshape::function_detail
