// Waiting for another thread's trace.
#include "function/flight.h"

#include "base/futex.h"
#include "base/log.h"

#include <fmt/format.h>

#include <chrono>

namespace anyshape::function_detail {

bool Flights::starts(const std::string& kind) {
  const std::scoped_lock lock(mutex_);
  if (generation_ != fork_generation()) {  // those who traced before the fork did not come along
    generation_ = fork_generation();
    kinds_.clear();
  }
  return kinds_.insert(kind).second;
}

Flight::Flight(Flights& flights, std::string kind) : flights_(flights), kind_(std::move(kind)) {
  constexpr std::chrono::seconds patience(10);
  const auto start = std::chrono::steady_clock::now();
  for (bool is_told = false;;) {
    const uint32_t ended = flights_.ended_.load(std::memory_order_acquire);
    if (flights_.starts(kind_)) return;
    sleep_while(flights_.ended_, ended, patience);
    if (is_told || std::chrono::steady_clock::now() - start < patience) continue;
    is_told = true;
    log_warning(fmt::format(
        "function \"{}\": a call has waited 10 s for another thread that traces it. A traced callable must not wait for a thread "
        "that calls the same function: that would never end.",
        flights_.function_));
  }
}

Flight::~Flight() {
  {
    const std::scoped_lock lock(flights_.mutex_);
    flights_.kinds_.erase(kind_);
  }
  flights_.ended_.fetch_add(1, std::memory_order_release);
  wake_all(flights_.ended_);
}

}  // namespace anyshape::function_detail
