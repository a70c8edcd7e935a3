// How long each kernel of a program has run, where somebody asks by ANYSHAPE_TIMES=1: two readings of the clock per kernel launch.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace anyshape::runtime {

class StepTimes {
 public:
  explicit StepTimes(size_t steps);

  bool is_on() const { return nanoseconds_ != nullptr; }
  int64_t now() const;
  void add(size_t step, int64_t since) const { nanoseconds_[step].fetch_add(now() - since, std::memory_order_relaxed); }
  int64_t of(size_t step) const { return is_on() ? nanoseconds_[step].load(std::memory_order_relaxed) : 0; }

 private:
  std::unique_ptr<std::atomic<int64_t>[]> nanoseconds_;  // per step, over all runs; null: nobody asks
};

}  // namespace anyshape::runtime
