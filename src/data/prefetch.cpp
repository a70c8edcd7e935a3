// Elements made ahead on a thread of their own. What it throws arrives where the element would have.
#include "data/dataset_impl.h"

#include <anyshape/error.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace anyshape::data {
namespace {

class PrefetchCursor final : public DatasetCursor {
 public:
  PrefetchCursor(std::unique_ptr<DatasetCursor> before, int64_t count, int64_t seed)
      : before_(std::move(before)), count_(static_cast<size_t>(count)), thread_([this, seed] { fill(seed); }) {}
  ~PrefetchCursor() override {
    {
      const std::scoped_lock lock(mutex_);
      is_ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  PrefetchCursor(const PrefetchCursor&) = delete;
  PrefetchCursor& operator=(const PrefetchCursor&) = delete;

  std::optional<Example> next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || is_over_; });
    if (!ready_.empty()) {
      Example element = std::move(ready_.front());
      ready_.pop_front();
      lock.unlock();
      changed_.notify_all();
      return element;
    }
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::nullopt;
  }
  PaddingCount padding() const override {
    const std::scoped_lock lock(mutex_);
    return is_over_ ? before_->padding() : PaddingCount{};
  }

 private:
  // What is drawn on this thread depends on the pass's seed alone, not on who draws what meanwhile.
  void fill(int64_t seed) {
    const random::SeedScope seeded(static_cast<uint64_t>(seed));
    for (;;) {
      std::optional<Example> element;
      std::exception_ptr error;
      try {
        element = before_->next();
      } catch (...) {
        error = std::current_exception();
      }
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ready_.size() < count_ || is_ended_; });
      if (is_ended_) return;
      if (!element) {
        error_ = error;
        is_over_ = true;
        lock.unlock();
        changed_.notify_all();
        return;
      }
      ready_.push_back(std::move(*element));
      lock.unlock();
      changed_.notify_all();
    }
  }

  std::unique_ptr<DatasetCursor> before_;
  size_t count_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Example> ready_;
  std::exception_ptr error_;
  bool is_over_ = false, is_ended_ = false;
  std::thread thread_;
};

class Prefetched final : public DatasetImpl {
 public:
  Prefetched(Source before, int64_t count) : before_(std::move(before)), count_(count) {}
  std::unique_ptr<DatasetCursor> open(int64_t pass) const override {
    return std::make_unique<PrefetchCursor>(before_->open(pass), count_, drawn_seed());
  }
  std::optional<int64_t> size() const override { return before_->size(); }
  bool is_batched() const override { return before_->is_batched(); }
  bool is_endless() const override { return before_->is_endless(); }

 private:
  Source before_;
  int64_t count_;
};

}  // namespace

Dataset prefetched(Source source, int64_t count) {
  if (count < 1) throw ArgumentError(fmt::format("Dataset::prefetch: count is {}; expected at least 1.", count));
  return Dataset(std::make_shared<Prefetched>(std::move(source), count));
}

}  // namespace anyshape::data
