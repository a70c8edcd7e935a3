// Numbered work, done ahead on threads of its own, whose results are given in order. What it throws arrives where the result would have.
#pragma once
#include "data/change_signal.h"

#include <anyshape/error.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <new>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace anyshape::data {

template <class Result>
class MadeAhead {
 public:
  // make(0), ..., make(count - 1); at most `ahead` of them wait to be taken. Threads start with the first call of next().
  MadeAhead(int64_t count, int threads, int64_t ahead, std::function<Result(int64_t number)> make)
      : count_(count),
        wanted_threads_(static_cast<int>(std::min<int64_t>(threads, count))),
        slots_(static_cast<size_t>(ahead)),
        make_(std::move(make)) {}
  ~MadeAhead() { stop(); }
  MadeAhead(const MadeAhead&) = delete;
  MadeAhead& operator=(const MadeAhead&) = delete;

  // None at the end. `forked` is what to say in a child of the process that started the threads: they did not come along.
  std::optional<Result> next(const char* forked) {
    start();
    if (given_ == count_) return std::nullopt;
    std::unique_lock lock(mutex_);
    Slot& slot = slots_[static_cast<size_t>(given_) % slots_.size()];
    changed_.wait(lock, [&] { return slot.is_ready || is_left_behind(); });
    if (!slot.is_ready) throw DataError(forked);
    Slot taken = std::exchange(slot, {});
    ++given_;
    lock.unlock();
    changed_.tell();
    if (taken.error != nullptr) std::rethrow_exception(taken.error);
    return std::move(taken.result);
  }

 private:
  struct Slot {
    bool is_ready = false;
    std::optional<Result> result;
    std::exception_ptr error;
  };

  void start() {
    if (!threads_.empty() || wanted_threads_ == 0) return;
    generation_ = fork_generation();
    for (int i = 0; i < wanted_threads_; ++i) threads_.emplace_back([this] { work(); });
  }
  void stop() {
    if (is_left_behind()) {
      for (std::thread& thread : threads_) new (&thread) std::thread();  // there is no such thread here to wait for
      return;
    }
    {
      const std::scoped_lock lock(mutex_);
      is_ended_ = true;
    }
    changed_.tell();
    for (std::thread& thread : threads_) thread.join();
  }

  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_ended_ || begun_ == count_ || begun_ < given_ + static_cast<int64_t>(slots_.size()); });
      if (is_ended_ || begun_ == count_) return;
      const int64_t number = begun_++;
      lock.unlock();
      Slot made{.is_ready = true, .result = {}, .error = {}};
      try {
        made.result = make_(number);
      } catch (...) {
        made.error = std::current_exception();
      }
      lock.lock();
      slots_[static_cast<size_t>(number) % slots_.size()] = std::move(made);
      lock.unlock();
      changed_.tell();
    }
  }

  bool is_left_behind() const { return !threads_.empty() && generation_ != fork_generation(); }

  int64_t count_;
  int wanted_threads_;
  std::vector<Slot> slots_;
  std::function<Result(int64_t)> make_;
  ForkMutex mutex_;
  ChangeSignal changed_;
  uint32_t generation_ = 0;
  int64_t begun_ = 0, given_ = 0;
  bool is_ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace anyshape::data
