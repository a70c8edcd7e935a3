// Single-flight tracing: one thread at a time traces calls of one kind, the others wait and then look again.
#pragma once
#include "base/fork_mutex.h"

#include <atomic>
#include <cstdint>
#include <set>
#include <string>

namespace anyshape::function_detail {

// The kinds of calls of one function that are being traced.
class Flights {
 public:
  explicit Flights(const std::string& function) : function_(function) {}

 private:
  friend class Flight;
  const std::string& function_;  // its name, for the warning
  bool starts(const std::string& kind);

  ForkMutex mutex_;
  std::atomic<uint32_t> ended_{0};  // flights, so far: what waiting threads watch
  uint32_t generation_ = fork_generation();
  std::set<std::string> kinds_;
};

// While one lives no other of its kind does. The user's code runs meanwhile, so no lock is held: what ends a flight is its destructor,
// also when tracing throws, and then the next one tries itself. A wait of ten seconds is told to the log sink: a traced body that waits
// for a thread that waits here never ends.
class Flight {
 public:
  Flight(Flights& flights, std::string kind);
  ~Flight();
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

 private:
  Flights& flights_;
  std::string kind_;
};

}  // namespace anyshape::function_detail
