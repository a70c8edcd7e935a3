// The process's random state: one key, and a range of counters for every top-level call.
#pragma once
#include "runtime/executable.h"

#include <cstdint>
#include <optional>

namespace anyshape::function_detail {

runtime::RandomState next_random_state();

// Where the numbers of this thread stand between calls: those of its SeedScope, or the process's.
struct RandomPosition {
  uint64_t key = 0;
  uint64_t next_call = 0;
};
RandomPosition random_position();
void set_random_position(const RandomPosition& position);

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
