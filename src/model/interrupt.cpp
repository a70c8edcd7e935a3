// The signal handler that fit puts in place, and the one it puts back.
#include "model/interrupt.h"

#include "base/fork_mutex.h"
#include "base/thread_context.h"

#include <csignal>

#include <atomic>
#include <mutex>

namespace anyshape::model {
namespace {

std::atomic<bool> requested{false};
ForkMutex mutex;
int scopes = 0;  // fits in progress; the first installs the handler, the last removes it
struct sigaction before{};

// The fits of other threads are none of a child's: there the signal does what it did before them.
[[maybe_unused]] const bool registered = [] {
  add_around_fork({.before = [] {},
                   .after =
                       [](bool in_child) {
                         if (!in_child) return;
                         if (scopes > 0 && this_thread.interrupts == 0) sigaction(SIGINT, &before, nullptr);
                         scopes = this_thread.interrupts;
                       }});
  return true;
}();

extern "C" void on_interrupt(int) {
  requested.store(true, std::memory_order_relaxed);
  // The next one ends the program.
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

InterruptScope::InterruptScope() {
  const std::scoped_lock lock(mutex);
  ++this_thread.interrupts;
  if (scopes++ > 0) return;
  requested.store(false, std::memory_order_relaxed);
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &before);
  if (before.sa_handler == SIG_IGN) sigaction(SIGINT, &before, nullptr);  // a program in the background stays undisturbed
}

InterruptScope::~InterruptScope() {
  const std::scoped_lock lock(mutex);
  --this_thread.interrupts;
  if (--scopes == 0) sigaction(SIGINT, &before, nullptr);
}

bool InterruptScope::is_requested() { return requested.load(std::memory_order_relaxed); }

}  // namespace anyshape::model
