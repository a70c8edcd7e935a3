// Waiting for another thread's trace.
#include "function/flight.h"

#include "base/log.h"

#include <fmt/format.h>

#include <chrono>

namespace anyshape::function_detail {

Flight::Flight(Flights& flights, std::string kind) : flights_(flights), kind_(std::move(kind)) {
  std::unique_lock lock(flights_.mutex_);
  const auto starts = [&] { return flights_.kinds_.insert(kind_).second; };
  if (flights_.ended_.wait_for(lock, std::chrono::seconds(10), starts)) return;
  lock.unlock();  // the sink is the user's code, too
  log_warning(
      fmt::format("function \"{}\": a call has waited 10 s for another thread that traces it. A traced callable must not wait for a thread "
                  "that calls the same function: that would never end.",
                  flights_.function_));
  lock.lock();
  flights_.ended_.wait(lock, starts);
}

Flight::~Flight() {
  {
    const std::scoped_lock lock(flights_.mutex_);
    flights_.kinds_.erase(kind_);
  }
  flights_.ended_.notify_all();
}

}  // namespace anyshape::function_detail
