// The process's random state: one key, and a range of counters for every top-level call.
#pragma once
#include "runtime/executable.h"

#include <optional>

namespace anyshape::function_detail {

runtime::RandomState next_random_state();

// While one lives, what runs on this thread draws as one call from a state of its own: the eager ops of a callable give the numbers that
// its compiled graph gives for that state. Without a state it takes the next one when something is drawn: nothing drawn, nothing taken.
class RandomScope {
 public:
  RandomScope() : RandomScope(std::nullopt) {}
  explicit RandomScope(std::optional<runtime::RandomState> state);
  ~RandomScope();
  RandomScope(const RandomScope&) = delete;
  RandomScope& operator=(const RandomScope&) = delete;

 private:
  friend runtime::RandomState next_random_state();
  std::optional<runtime::RandomState> state_;
  RandomScope* outer_;
};

// Suspends the scope of this thread: what is drawn takes the process's numbers, or a SeedScope's.
class OutsideRandomScope {
 public:
  OutsideRandomScope();
  ~OutsideRandomScope();
  OutsideRandomScope(const OutsideRandomScope&) = delete;
  OutsideRandomScope& operator=(const OutsideRandomScope&) = delete;

 private:
  RandomScope* outer_;
};

}  // namespace anyshape::function_detail
