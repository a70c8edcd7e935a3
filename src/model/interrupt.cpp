// The signal handler that fit puts in place, and the one it puts back.
#include "model/interrupt.h"

#include <csignal>

#include <atomic>
#include <mutex>

namespace anyshape::model {
namespace {

std::atomic<bool> requested{false};
std::mutex mutex;
int scopes = 0;  // fits in progress; the first installs the handler, the last removes it
struct sigaction before{};

extern "C" void on_interrupt(int) {
  requested.store(true, std::memory_order_relaxed);
  // The next one ends the program.
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

InterruptScope::InterruptScope() {
  const std::scoped_lock lock(mutex);
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
  if (--scopes == 0) sigaction(SIGINT, &before, nullptr);
}

bool InterruptScope::is_requested() { return requested.load(std::memory_order_relaxed); }

}  // namespace anyshape::model
