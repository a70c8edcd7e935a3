// Elements made ahead on a thread of their own. What it throws arrives where the element would have.
#include "data/change_signal.h"
#include "data/dataset_impl.h"

#include <anyshape/error.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <deque>
#include <exception>
#include <new>
#include <thread>
#include <utility>

namespace anyshape::data {
namespace {

class PrefetchCursor final : public DatasetCursor {
 public:
  PrefetchCursor(std::unique_ptr<DatasetCursor> before, int64_t count) : before_(std::move(before)), count_(static_cast<size_t>(count)) {}
  ~PrefetchCursor() override { stop(); }
  PrefetchCursor(const PrefetchCursor&) = delete;
  PrefetchCursor& operator=(const PrefetchCursor&) = delete;

  // The thread that makes the elements, drawing from a seed of the pass.
  void start(int64_t seed) {
    thread_ = std::thread([this, seed] { fill(seed); });
  }
  void stop() {
    if (!thread_.joinable()) return;
    if (is_left_behind()) {
      new (&thread_) std::thread();          // there is no such thread here to wait for
      static_cast<void>(before_.release());  // it may have been in the middle of an element
      return;
    }
    {
      const std::scoped_lock lock(mutex_);
      is_ended_ = true;
    }
    changed_.tell();
    thread_.join();
  }

  std::optional<Example> next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || is_over_ || is_left_behind(); });
    if (!ready_.empty()) {
      Example element = std::move(ready_.front());
      ready_.pop_front();
      lock.unlock();
      changed_.tell();
      return element;
    }
    if (!is_over_) {
      throw DataError(
          "Dataset::prefetch: the process has forked since this pass began, and the thread that makes its elements did not come along; "
          "expected a pass that begins in the child. Begin another one.");
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
        changed_.tell();
        return;
      }
      ready_.push_back(std::move(*element));
      lock.unlock();
      changed_.tell();
    }
  }

  // Whether the thread is one of the process that this one was forked from.
  bool is_left_behind() const { return generation_ != fork_generation(); }

  std::unique_ptr<DatasetCursor> before_;
  size_t count_;
  mutable ForkMutex mutex_;
  ChangeSignal changed_;
  uint32_t generation_ = fork_generation();
  std::deque<Example> ready_;
  std::exception_ptr error_;
  bool is_over_ = false, is_ended_ = false;
  std::thread thread_;
};

class Prefetched final : public DatasetImpl {
 public:
  Prefetched(Source before, int64_t count) : before_(std::move(before)), count_(count) {}
  std::unique_ptr<DatasetCursor> open(int64_t pass) const override {
    auto cursor = std::make_unique<PrefetchCursor>(before_->open(pass), count_);
    cursor->start(drawn_seed());
    return cursor;
  }
  std::optional<int64_t> size() const override { return before_->size(); }
  bool is_batched() const override { return before_->is_batched(); }
  bool is_endless() const override { return before_->is_endless(); }
  std::optional<int64_t> row_total() const override { return before_->row_total(); }
  const DatasetImpl* before() const override { return before_.get(); }

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
