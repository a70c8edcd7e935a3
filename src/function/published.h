// A value that many threads look at without ever waiting, and few replace. Readers announce themselves; an old value is destroyed when none
// is left who may still look at it.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace anyshape::function_detail {

template <class T>
class Published {
 public:
  Published() : current_(new T()) {}
  ~Published() { delete current_.load(std::memory_order_relaxed); }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // What `look(value)` gives; the value is valid inside it only.
  template <class Look>
  auto read(const Look& look) const {
    const Reader reader(readers_);
    return look(static_cast<const T&>(*current_.load(std::memory_order_seq_cst)));
  }

  // One at a time: the caller has a lock. Gives what nobody looks at any more, to be destroyed after the lock is gone; values that somebody
  // looks at for long are given by a later call.
  [[nodiscard]] std::vector<std::unique_ptr<T>> replace(T next) {
    auto fresh = std::make_unique<T>(std::move(next));
    retired_.reserve(retired_.size() + 1);
    retired_.emplace_back(current_.exchange(fresh.release(), std::memory_order_seq_cst));
    for (int tries = 0; tries < 1000; ++tries) {
      if (readers_.load(std::memory_order_seq_cst) == 0) return std::exchange(retired_, {});
      std::this_thread::yield();
    }
    return {};
  }

 private:
  // In one order with the exchange: a reader that is not seen after it sees the new value.
  struct Reader {
    explicit Reader(std::atomic<int64_t>& readers) : readers_(readers) { readers_.fetch_add(1, std::memory_order_seq_cst); }
    ~Reader() { readers_.fetch_sub(1, std::memory_order_seq_cst); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    std::atomic<int64_t>& readers_;
  };

  std::atomic<T*> current_;
  std::vector<std::unique_ptr<T>> retired_;
  alignas(64) mutable std::atomic<int64_t> readers_{0};
};

}  // namespace anyshape::function_detail
