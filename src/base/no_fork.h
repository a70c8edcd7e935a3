// A child of fork() has the thread that forked and no other: what another thread was in the middle of stays half done there, and its locks taken.
// So a fork waits until no other thread is inside a scope of this kind, and none enters one meanwhile. What is inside ends by itself: code of the
// user's that may have to be run there (owners of foreign memory that end, the log sink) is left until the thread is outside.
#pragma once
#include "base/thread_context.h"

#include <cstdint>

namespace anyshape {

// Something whose end runs code of the user's.
struct EndsOutside {
  virtual ~EndsOutside() = default;
  EndsOutside* next = nullptr;
};

class NoFork {
 public:
  NoFork() noexcept { begin(); }
  ~NoFork() { end(); }
  NoFork(const NoFork&) = delete;
  NoFork& operator=(const NoFork&) = delete;

  static void begin() noexcept {
    if (this_thread.no_fork.depth++ == 0) enter();
  }
  static void end() noexcept {
    if (--this_thread.no_fork.depth == 0) leave();
  }
  // For a thread that works for others only, who are inside while it does: it must not wait for a fork that waits for them.
  static void leave_it_to_others() noexcept {
    ++this_thread.no_fork.depth;
    this_thread.no_fork.is_for_others = true;
  }

  // Deletes it as soon as the thread is outside; allocates nothing.
  static void end_outside(EndsOutside* held) noexcept;

 private:
  static void enter() noexcept;
  static void leave() noexcept;
  static void end_held() noexcept;
};

// How often the process forked on its way from the first one: what remembers another number was begun before the fork, by threads that may not be here.
uint32_t fork_generation() noexcept;

uint64_t thread_number() noexcept;       // of this thread; no other gets it, in no process
uint64_t thread_that_forked() noexcept;  // the one that came along into this process; 0 in the first one

// Called around every fork, when no other thread is inside a NoFork: `before` in the reverse order of being added, `after` in that order, in the
// parent and in the child.
struct AroundFork {
  void (*before)() = nullptr;
  void (*after)(bool in_child) = nullptr;
};
void add_around_fork(const AroundFork& calls) noexcept;

}  // namespace anyshape
