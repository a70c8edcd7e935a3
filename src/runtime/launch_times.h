// How long each kernel of a program has run, where somebody asks by ANYSHAPE_TIMES=1: two readings of the clock per kernel launch.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace anyshape::runtime {

class LaunchTimes {
 public:
  explicit LaunchTimes(size_t launches);

  bool is_on() const { return nanoseconds_ != nullptr; }
  int64_t now() const;
  void add(size_t launch, int64_t since) const { nanoseconds_[launch].fetch_add(now() - since, std::memory_order_relaxed); }
  int64_t of(size_t launch) const { return is_on() ? nanoseconds_[launch].load(std::memory_order_relaxed) : 0; }

 private:
  std::unique_ptr<std::atomic<int64_t>[]> nanoseconds_;  // per launch, over all runs; null: nobody asks
};

}  // namespace anyshape::runtime
