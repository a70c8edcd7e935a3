// What the first whole pass gave is kept and given again.
#include "base/fork_mutex.h"
#include "data/dataset_impl.h"

#include <mutex>

namespace anyshape::data {
namespace {

struct Elements {
  std::vector<Example> examples;
  PaddingCount padding;
};

struct Kept {
  ForkMutex mutex;
  std::shared_ptr<const Elements> elements;  // of a whole pass
};

class Keeping final : public DatasetCursor {
 public:
  Keeping(std::unique_ptr<DatasetCursor> before, std::shared_ptr<Kept> kept) : before_(std::move(before)), kept_(std::move(kept)) {}
  std::optional<Example> next() override {
    if (is_over_) return std::nullopt;
    std::optional<Example> element = before_->next();
    if (element) {
      seen_->examples.push_back(*element);
      return element;
    }
    is_over_ = true;
    seen_->padding = before_->padding();
    const std::scoped_lock lock(kept_->mutex);
    if (kept_->elements == nullptr) kept_->elements = seen_;
    return std::nullopt;
  }
  PaddingCount padding() const override { return before_->padding(); }

 private:
  std::unique_ptr<DatasetCursor> before_;
  std::shared_ptr<Kept> kept_;
  std::shared_ptr<Elements> seen_ = std::make_shared<Elements>();
  bool is_over_ = false;
};

class Giving final : public DatasetCursor {
 public:
  explicit Giving(std::shared_ptr<const Elements> elements) : elements_(std::move(elements)) {}
  std::optional<Example> next() override {
    return index_ < elements_->examples.size() ? std::optional(elements_->examples[index_++]) : std::nullopt;
  }
  PaddingCount padding() const override { return elements_->padding; }

 private:
  std::shared_ptr<const Elements> elements_;
  size_t index_ = 0;
};

class Cached final : public DatasetImpl {
 public:
  explicit Cached(Source before) : before_(std::move(before)) {}
  std::unique_ptr<DatasetCursor> open(int64_t pass) const override {
    {
      const std::scoped_lock lock(kept_->mutex);
      if (kept_->elements != nullptr) return std::make_unique<Giving>(kept_->elements);
    }
    return std::make_unique<Keeping>(before_->open(pass), kept_);
  }
  std::optional<int64_t> size() const override { return before_->size(); }
  bool is_batched() const override { return before_->is_batched(); }
  std::optional<int64_t> row_total() const override { return before_->row_total(); }
  const DatasetImpl* before() const override { return before_.get(); }

 private:
  Source before_;
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
};

}  // namespace

Dataset cached(Source source) {
  if (source->is_endless()) throw ArgumentError("Dataset::cache: a pass has no end; expected one that ends. Call take(count) before.");
  return Dataset(std::make_shared<Cached>(std::move(source)));
}

}  // namespace anyshape::data
