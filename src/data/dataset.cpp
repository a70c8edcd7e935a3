// What makes a stream of elements of another: filter, repeat, take, skip, zip; generators; and the dataset's handle.
#include "base/option_rules.h"
#include "data/dataset_impl.h"
#include "data/stage_arguments.h"

#include <anyshape/registry.h>

#include <algorithm>

namespace anyshape {
namespace {

using data::Next;
using data::Source;
using data::with_number;
using Cursor = std::unique_ptr<DatasetCursor>;

// A pass that is a function, which is not called again once it has given nothing; what stands before it is asked for the padding.
class FunctionCursor final : public DatasetCursor {
 public:
  explicit FunctionCursor(Next next, std::shared_ptr<DatasetCursor> before = nullptr)
      : next_(std::move(next)), before_(std::move(before)) {}
  std::optional<Example> next() override {
    std::optional<Example> element = is_over_ ? std::nullopt : next_();
    is_over_ = !element;
    return element;
  }
  PaddingCount padding() const override { return before_ == nullptr ? PaddingCount{} : before_->padding(); }

 private:
  Next next_;
  std::shared_ptr<DatasetCursor> before_;
  bool is_over_ = false;
};

// A dataset that changes the elements of another.
class Changed final : public DatasetImpl {
 public:
  using Open = std::function<Next(const std::shared_ptr<DatasetCursor>& before, int64_t pass)>;
  using Size = std::function<std::optional<int64_t>(std::optional<int64_t> before)>;
  enum class End { AsBefore, Always, Never };
  Changed(Source before, Open open, Size size, End end)
      : before_(std::move(before)), open_(std::move(open)), size_(std::move(size)), end_(end) {}

  Cursor open(int64_t pass) const override {
    std::shared_ptr<DatasetCursor> before = before_->open(pass);
    return std::make_unique<FunctionCursor>(open_(before, pass), before);
  }
  std::optional<int64_t> size() const override { return size_(before_->size()); }
  bool is_batched() const override { return before_->is_batched(); }
  bool is_endless() const override { return end_ == End::Never || (end_ == End::AsBefore && before_->is_endless()); }
  const DatasetImpl* before() const override { return before_.get(); }

 private:
  Source before_;
  Open open_;
  Size size_;
  End end_;
};

Dataset derived(Source before, Changed::Open open, Changed::Size size, Changed::End end = Changed::End::AsBefore) {
  return Dataset(std::make_shared<Changed>(std::move(before), std::move(open), std::move(size), end));
}
std::optional<int64_t> unknown_size(std::optional<int64_t>) { return std::nullopt; }

class FromGenerator final : public DatasetImpl {
 public:
  explicit FromGenerator(std::function<Next()> make) : make_(std::move(make)) {}
  Cursor open(int64_t) const override {
    return std::make_unique<FunctionCursor>(
        [next = require::callable("Dataset::from_generator", "what make gave", make_()), number = int64_t{0}]() mutable {
          return with_number("Dataset::from_generator", number++, next);
        });
  }

 private:
  std::function<Next()> make_;
};

}  // namespace

Dataset Dataset::from(const Data& x) { return data::from_tensors(x, {}, {}); }
Dataset Dataset::from(const Data& x, const Data& y) { return data::from_tensors(x, y, {}); }
Dataset Dataset::from(const Data& x, const Data& y, const Data& sample_weight) { return data::from_tensors(x, y, sample_weight); }
Dataset Dataset::from_generator(std::function<std::function<std::optional<Example>()>()> make) {
  require::callable("Dataset::from_generator", "make", make);
  return with_config(Dataset(std::make_shared<FromGenerator>(make)), "from_generator", data::GeneratorArguments{make});
}

Dataset Dataset::map(std::function<Example(const Example&)> callable) const {
  require::callable("Dataset::map", "the callable", callable);
  return with_config(data::mapped(impl_, callable), "map", data::MapArguments{*this, callable});
}

Dataset Dataset::filter(std::function<bool(const Example&)> callable) const {
  require::callable("Dataset::filter", "the callable", callable);
  const Dataset filtered = derived(
      impl_,
      [callable](const std::shared_ptr<DatasetCursor>& before, int64_t) {
        return [=, number = int64_t{0}]() mutable -> std::optional<Example> {
          while (std::optional<Example> element = before->next()) {
            if (with_number("Dataset::filter", number++, [&] { return callable(*element); })) return element;
          }
          return std::nullopt;
        };
      },
      unknown_size);
  return with_config(filtered, "filter", data::FilterArguments{*this, callable});
}

Dataset Dataset::take(int64_t count) const {
  if (count < 0) throw ArgumentError(fmt::format("Dataset::take: count is {}; expected 0 or more.", count));
  const Dataset first = derived(
      impl_,
      [=](const std::shared_ptr<DatasetCursor>& before, int64_t) {
        return [=, given = int64_t{0}]() mutable { return given++ < count ? before->next() : std::nullopt; };
      },
      [=](std::optional<int64_t> before) { return before ? std::optional(std::min(*before, count)) : std::nullopt; }, Changed::End::Always);
  return with_config(first, "take", data::CountArguments{*this, count});
}

Dataset Dataset::skip(int64_t count) const {
  if (count < 0) throw ArgumentError(fmt::format("Dataset::skip: count is {}; expected 0 or more.", count));
  const Dataset rest = derived(
      impl_,
      [=](const std::shared_ptr<DatasetCursor>& before, int64_t) {
        return [=, left = count]() mutable {
          while (left > 0 && before->next()) --left;
          left = 0;
          return before->next();
        };
      },
      [=](std::optional<int64_t> before) { return before ? std::optional(std::max<int64_t>(*before - count, 0)) : std::nullopt; });
  return with_config(rest, "skip", data::CountArguments{*this, count});
}

Dataset Dataset::repeat(int64_t times) const {
  if (times < -1) throw ArgumentError(fmt::format("Dataset::repeat: times is {}; expected 0 or more, or -1 for no end.", times));
  const Source source = impl_;
  const Dataset repeated = derived(
      impl_,
      [=](const std::shared_ptr<DatasetCursor>& first, int64_t pass) {
        return [=, before = first, number = int64_t{1}, any = false]() mutable -> std::optional<Example> {
          if (times == 0) return std::nullopt;
          for (;;) {
            if (std::optional<Example> element = before->next()) {
              any = true;
              return element;
            }
            if ((times >= 0 && number >= times) || !any) return std::nullopt;  // nothing repeated without end is nothing
            before = source->open(pass + number++);
          }
        };
      },
      [=](std::optional<int64_t> before) -> std::optional<int64_t> {
        int64_t all = 0;  // more than can be counted is not known
        if (!before || times < 0 || __builtin_mul_overflow(*before, times, &all)) return std::nullopt;
        return all;
      },
      times < 0 ? Changed::End::Never : Changed::End::AsBefore);
  return with_config(repeated, "repeat", data::DatasetArguments{*this}, data::PassesOptions{times});
}

Dataset Dataset::zip(const Dataset& x, const Dataset& y) {
  const Source targets = y.impl_;
  const bool has_end = !x.is_endless() || !y.is_endless();
  const Dataset zipped = derived(
      x.impl_,
      [targets](const std::shared_ptr<DatasetCursor>& before, int64_t pass) {
        const std::shared_ptr<DatasetCursor> beside = targets->open(pass);
        return [=]() -> std::optional<Example> {
          std::optional<Example> element = before->next(), target = element ? beside->next() : std::nullopt;
          if (!target) return std::nullopt;
          element->y = target->x;
          return element;
        };
      },
      [targets](std::optional<int64_t> before) {
        const std::optional<int64_t> beside = targets->size();
        return before && beside ? std::optional(std::min(*before, *beside)) : std::nullopt;
      },
      has_end ? Changed::End::Always : Changed::End::Never);
  return with_config(zipped, "zip", data::ZipArguments{x, y});
}

Dataset Dataset::batch(int64_t size, BatchOptions options) const {
  return with_config(data::batched(impl_, size, options), "batch", data::BatchArguments{*this, size}, options);
}
Dataset Dataset::padded_batch(int64_t size, PaddedBatchOptions options) const {
  return with_config(data::padded(impl_, size, options), "padded_batch", data::BatchArguments{*this, size}, options);
}
Dataset Dataset::group_by_shape(int64_t size, GroupByShapeOptions options) const {
  return with_config(data::grouped_by_shape(impl_, size, options), "group_by_shape", data::BatchArguments{*this, size}, options);
}
Dataset Dataset::bucket(BucketOptions options) const {
  return with_config(data::bucketed(impl_, options), "bucket", data::DatasetArguments{*this}, options);
}
Dataset Dataset::shuffle(ShuffleOptions options) const {
  return with_config(data::shuffled(impl_, options), "shuffle", data::DatasetArguments{*this}, options);
}
Dataset Dataset::cache() const { return with_config(data::cached(impl_), "cache", data::DatasetArguments{*this}); }
Dataset Dataset::prefetch(int64_t count) const {
  return with_config(data::prefetched(impl_, count), "prefetch", data::DatasetArguments{*this}, data::PrefetchOptions{count});
}

std::optional<int64_t> Dataset::size() const { return impl_->size(); }
std::vector<std::string> Dataset::class_names() const {
  const FolderFacts* const folder = impl_->folder();
  return folder == nullptr ? std::vector<std::string>() : folder->class_names;
}
std::vector<std::string> Dataset::file_names() const {
  const FolderFacts* const folder = impl_->folder();
  return folder == nullptr ? std::vector<std::string>() : folder->file_names();
}
bool Dataset::is_batched() const { return impl_->is_batched(); }
bool Dataset::is_endless() const { return impl_->is_endless(); }

double Dataset::padding_waste() const {
  if (is_endless()) throw ArgumentError("Dataset::padding_waste: a pass has no end; expected one that ends. Call take(count) before.");
  const Cursor cursor = impl_->open(0);
  while (cursor->next()) {
  }
  const PaddingCount count = cursor->padding();
  return count.elements == 0 ? 0 : static_cast<double>(count.padded) / static_cast<double>(count.elements);
}

Dataset::Iterator::Iterator(std::shared_ptr<DatasetCursor> cursor) : cursor_(std::move(cursor)), current_(cursor_->next()) {}
Dataset::Iterator& Dataset::Iterator::operator++() {
  current_ = cursor_->next();
  return *this;
}

Dataset::Iterator Dataset::begin() const { return Iterator(impl_->open(passes_->fetch_add(1))); }
Dataset::Dataset(std::shared_ptr<const DatasetImpl> impl)
    : Stateful("dataset"), impl_(std::move(impl)), passes_(std::make_shared<std::atomic<int64_t>>(0)) {
  if (impl_ == nullptr) throw ArgumentError("Dataset: the pointer is null; expected a dataset.");
}

}  // namespace anyshape
