// A buffer is kept full; what leaves it is drawn at random. Rows of tensors are shuffled by their numbers: the same order, no element made
// before it is asked for.
#include "data/dataset_impl.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace anyshape::data {
namespace {

// What leaves a buffer next.
template <class Held>
Held draw(std::vector<Held>& held, std::mt19937_64& random) {
  std::swap(held[random() % held.size()], held.back());
  Held chosen = std::move(held.back());
  held.pop_back();
  return chosen;
}

class ShuffleCursor final : public DatasetCursor {
 public:
  ShuffleCursor(std::unique_ptr<DatasetCursor> before, int64_t buffer, uint64_t seed)
      : before_(std::move(before)), buffer_(buffer), random_(seed) {}

  std::optional<Example> next() override {
    while (!is_over_ && static_cast<int64_t>(held_.size()) < buffer_) {
      std::optional<Example> element = before_->next();
      is_over_ = !element;
      if (element) held_.push_back(std::move(*element));
    }
    if (held_.empty()) return std::nullopt;
    return draw(held_, random_);
  }
  PaddingCount padding() const override { return before_->padding(); }

 private:
  std::unique_ptr<DatasetCursor> before_;
  int64_t buffer_;
  std::mt19937_64 random_;
  std::vector<Example> held_;
  bool is_over_ = false;
};

// The numbers 0, ..., count - 1 as they leave such a buffer.
std::vector<int64_t> shuffled_numbers(int64_t count, int64_t buffer, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<int64_t> held(static_cast<size_t>(std::min(count, buffer))), order;
  std::iota(held.begin(), held.end(), 0);
  order.reserve(static_cast<size_t>(count));
  for (int64_t next = static_cast<int64_t>(held.size()); !held.empty(); ++next) {
    order.push_back(draw(held, random));
    if (next < count) held.push_back(next);
  }
  return order;
}

class Shuffled final : public DatasetImpl {
 public:
  Shuffled(Source before, ShuffleOptions options, uint64_t seed) : before_(std::move(before)), options_(options), seed_(seed) {}

  std::unique_ptr<DatasetCursor> open(int64_t pass) const override {
    const uint64_t seed = options_.reshuffle_each_iteration ? seed_ + static_cast<uint64_t>(pass) * 0x9e3779b97f4a7c15U : seed_;
    if (before_->row_count() > 0) return before_->open_in_order(shuffled_numbers(before_->row_count(), options_.buffer, seed));
    return std::make_unique<ShuffleCursor>(before_->open(pass), options_.buffer, seed);
  }
  std::optional<int64_t> size() const override { return before_->size(); }
  bool is_batched() const override { return before_->is_batched(); }
  bool is_endless() const override { return before_->is_endless(); }
  std::optional<int64_t> row_total() const override { return before_->row_total(); }
  const DatasetImpl* before() const override { return before_.get(); }

 private:
  Source before_;
  ShuffleOptions options_;
  uint64_t seed_;
};

}  // namespace

Dataset shuffled(Source source, ShuffleOptions options) {
  if (options.buffer < 1) throw ArgumentError(fmt::format("Dataset::shuffle: buffer is {}; expected at least 1.", options.buffer));
  const int64_t seed = options.seed ? *options.seed : drawn_seed();
  return Dataset(std::make_shared<Shuffled>(std::move(source), options, static_cast<uint64_t>(seed)));
}

}  // namespace anyshape::data
