// Datasets from tensors and generators, and what changes the stream of elements: map, filter, shuffle, repeat, take, skip, cache, zip.
#include "data/dataset_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>

namespace anyshape {
namespace {

using data::Source;
using Cursor = std::unique_ptr<DatasetCursor>;
using Next = std::function<std::optional<Example>()>;

// A pass that is a function; what stands before it is asked for the padding.
class FunctionCursor final : public DatasetCursor {
 public:
  explicit FunctionCursor(Next next, std::shared_ptr<DatasetCursor> before = nullptr) : next_(std::move(next)), before_(std::move(before)) {}
  std::optional<Example> next() override { return next_(); }
  PaddingCount padding() const override { return before_ == nullptr ? PaddingCount{} : before_->padding(); }

 private:
  Next next_;
  std::shared_ptr<DatasetCursor> before_;
};

// A dataset that changes the elements of another.
class Changed final : public DatasetImpl {
 public:
  using Open = std::function<Next(const std::shared_ptr<DatasetCursor>& before, int64_t pass)>;
  using Size = std::function<std::optional<int64_t>(std::optional<int64_t> before)>;
  Changed(Source before, Open open, Size size) : before_(std::move(before)), open_(std::move(open)), size_(std::move(size)) {}

  Cursor open(int64_t pass) const override {
    std::shared_ptr<DatasetCursor> before = before_->open(pass);
    return std::make_unique<FunctionCursor>(open_(before, pass), before);
  }
  std::optional<int64_t> size() const override { return size_(before_->size()); }
  bool is_batched() const override { return before_->is_batched(); }

 private:
  Source before_;
  Open open_;
  Size size_;
};

Dataset changed(Source before, Changed::Open open, Changed::Size size) {
  return Dataset(std::make_shared<Changed>(std::move(before), std::move(open), std::move(size)));
}
std::optional<int64_t> same_size(std::optional<int64_t> before) { return before; }
std::optional<int64_t> unknown_size(std::optional<int64_t>) { return std::nullopt; }

// The user's callable on element `number`; what it throws arrives with the number.
template <class Callable>
auto with_number(const char* what, int64_t number, const Callable& callable) {
  try {
    return callable();
  } catch (const std::exception& error) {
    throw DataError(fmt::format("{}: element {}: {}", what, number, error.what()));
  }
}

Data element_of(const Data& data, int64_t index) {
  std::vector<Data::Field> fields;
  for (const Data::Field& field : data.fields()) {
    const bool is_ragged = field.tensor.is_ragged();
    const Tensor element = is_ragged ? row(field.tensor, index) : squeeze(slice(field.tensor, {{.begin = index, .end = index + 1}}), {0});
    fields.push_back({field.name, element, is_ragged});
  }
  return Data(std::move(fields));
}

int64_t rows_of(const Data& data) { return data.fields().front().tensor.shape()[0].value(); }

class FromTensors final : public DatasetImpl {
 public:
  FromTensors(Data x, Data y, Tensor weight) : x_(std::move(x)), y_(std::move(y)), weight_(std::move(weight)) {
    if (!x_.defined()) throw DataError("Dataset: no inputs are given; expected a tensor, rows or inputs().");
    auto require = [&](const Tensor& tensor, const char* name) {
      if (tensor.rank() == 0) throw ShapeError("Dataset: a scalar is given; expected rows along the first axis.");
      const int64_t rows = tensor.shape()[0].value();
      if (rows != rows_of(x_)) throw DataError(fmt::format("Dataset: the inputs have {} rows, the {} {}; expected as many.", rows_of(x_), name, rows));
    };
    for (const Data::Field& field : x_.fields()) require(field.tensor, "further inputs");
    for (const Data::Field& field : y_.fields()) require(field.tensor, "targets");
    if (weight_.defined()) require(weight_, "sample weights");
  }

  Cursor open(int64_t) const override {
    return std::make_unique<FunctionCursor>([this, index = int64_t{0}]() mutable -> std::optional<Example> {
      if (index >= rows_of(x_)) return std::nullopt;
      Example example{.x = element_of(x_, index)};
      if (y_.defined()) example.y = element_of(y_, index);
      if (weight_.defined()) example.sample_weight = squeeze(slice(weight_, {{.begin = index, .end = index + 1}}), {0});
      ++index;
      return example;
    });
  }
  std::optional<int64_t> size() const override { return rows_of(x_); }

 private:
  Data x_, y_;
  Tensor weight_;
};

class FromGenerator final : public DatasetImpl {
 public:
  explicit FromGenerator(std::function<Next()> make) : make_(std::move(make)) {}
  Cursor open(int64_t) const override {
    return std::make_unique<FunctionCursor>([next = make_(), number = int64_t{0}]() mutable {
      return with_number("Dataset::from_generator", number++, next);
    });
  }

 private:
  std::function<Next()> make_;
};

}  // namespace

Dataset Dataset::from(const Data& x) { return Dataset(std::make_shared<FromTensors>(x, Data(), Tensor())); }
Dataset Dataset::from(const Data& x, const Data& y) { return Dataset(std::make_shared<FromTensors>(x, y, Tensor())); }
Dataset Dataset::from(const Data& x, const Data& y, const Tensor& sample_weight) {
  return Dataset(std::make_shared<FromTensors>(x, y, sample_weight));
}
Dataset Dataset::from_generator(std::function<std::function<std::optional<Example>()>()> make) {
  return Dataset(std::make_shared<FromGenerator>(std::move(make)));
}

Dataset Dataset::map(std::function<Example(const Example&)> callable) const {
  return changed(
      impl_,
      [callable = std::move(callable)](const std::shared_ptr<DatasetCursor>& before, int64_t) {
        return [=, number = int64_t{0}]() mutable -> std::optional<Example> {
          const std::optional<Example> element = before->next();
          if (!element) return std::nullopt;
          return with_number("Dataset::map", number++, [&] { return callable(*element); });
        };
      },
      same_size);
}

Dataset Dataset::filter(std::function<bool(const Example&)> callable) const {
  return changed(
      impl_,
      [callable = std::move(callable)](const std::shared_ptr<DatasetCursor>& before, int64_t) {
        return [=, number = int64_t{0}]() mutable -> std::optional<Example> {
          while (std::optional<Example> element = before->next()) {
            if (with_number("Dataset::filter", number++, [&] { return callable(*element); })) return element;
          }
          return std::nullopt;
        };
      },
      unknown_size);
}

// A buffer is kept full; what leaves it is drawn at random.
Dataset Dataset::shuffle(ShuffleOptions options) const {
  if (options.buffer < 1) throw ArgumentError(fmt::format("Dataset::shuffle: buffer is {}; expected at least 1.", options.buffer));
  static std::atomic<uint64_t> unseeded{0};
  const uint64_t seed = options.seed ? static_cast<uint64_t>(*options.seed) : 0x5eed0000U + unseeded.fetch_add(1);
  return changed(
      impl_,
      [=](const std::shared_ptr<DatasetCursor>& before, int64_t pass) {
        const uint64_t own = options.reshuffle_each_iteration ? seed + static_cast<uint64_t>(pass) * 0x9e3779b97f4a7c15U : seed;
        return [=, random = std::mt19937_64(own), held = std::vector<Example>()]() mutable -> std::optional<Example> {
          while (static_cast<int64_t>(held.size()) < options.buffer) {
            std::optional<Example> element = before->next();
            if (!element) break;
            held.push_back(std::move(*element));
          }
          if (held.empty()) return std::nullopt;
          std::swap(held[random() % held.size()], held.back());
          Example chosen = std::move(held.back());
          held.pop_back();
          return chosen;
        };
      },
      same_size);
}

Dataset Dataset::take(int64_t count) const {
  if (count < 0) throw ArgumentError(fmt::format("Dataset::take: count is {}; expected 0 or more.", count));
  return changed(
      impl_,
      [=](const std::shared_ptr<DatasetCursor>& before, int64_t) {
        return [=, given = int64_t{0}]() mutable { return given++ < count ? before->next() : std::nullopt; };
      },
      [=](std::optional<int64_t> before) { return before ? std::optional(std::min(*before, count)) : std::nullopt; });
}

Dataset Dataset::skip(int64_t count) const {
  if (count < 0) throw ArgumentError(fmt::format("Dataset::skip: count is {}; expected 0 or more.", count));
  return changed(
      impl_,
      [=](const std::shared_ptr<DatasetCursor>& before, int64_t) {
        return [=, left = count]() mutable {
          while (left > 0 && before->next()) --left;
          left = 0;
          return before->next();
        };
      },
      [=](std::optional<int64_t> before) { return before ? std::optional(std::max<int64_t>(*before - count, 0)) : std::nullopt; });
}

Dataset Dataset::repeat(int64_t times) const {
  const Source source = impl_;
  return changed(
      impl_,
      [=](const std::shared_ptr<DatasetCursor>& first, int64_t pass) {
        return [=, before = first, number = int64_t{1}, any = false]() mutable -> std::optional<Example> {
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
      [=](std::optional<int64_t> before) { return before && times >= 0 ? std::optional(*before * times) : std::nullopt; });
}

// What the first whole pass gave is kept and given again.
Dataset Dataset::cache() const {
  struct Kept {
    std::mutex mutex;
    std::shared_ptr<const std::vector<Example>> elements;
  };
  const auto kept = std::make_shared<Kept>();
  return changed(
      impl_,
      [kept](const std::shared_ptr<DatasetCursor>& before, int64_t) -> Next {
        std::shared_ptr<const std::vector<Example>> elements;
        {
          const std::scoped_lock lock(kept->mutex);
          elements = kept->elements;
        }
        if (elements != nullptr) {
          return [elements, index = size_t{0}]() mutable { return index < elements->size() ? std::optional((*elements)[index++]) : std::nullopt; };
        }
        return [kept, before, seen = std::make_shared<std::vector<Example>>()]() -> std::optional<Example> {
          std::optional<Example> element = before->next();
          if (element) {
            seen->push_back(*element);
          } else {
            const std::scoped_lock lock(kept->mutex);
            if (kept->elements == nullptr) kept->elements = seen;
          }
          return element;
        };
      },
      same_size);
}

Dataset Dataset::zip(const Dataset& x, const Dataset& y) {
  const Source targets = y.impl_;
  return changed(
      x.impl_,
      [targets](const std::shared_ptr<DatasetCursor>& before, int64_t pass) {
        const std::shared_ptr<DatasetCursor> beside = targets->open(pass);
        return [=]() -> std::optional<Example> {
          std::optional<Example> element = before->next(), target = beside->next();
          if (!element || !target) return std::nullopt;
          element->y = target->x;
          return element;
        };
      },
      [targets](std::optional<int64_t> before) {
        const std::optional<int64_t> beside = targets->size();
        return before && beside ? std::optional(std::min(*before, *beside)) : std::nullopt;
      });
}

Dataset Dataset::batch(int64_t size, BatchOptions options) const { return data::batched(impl_, size, options.drop_remainder); }
Dataset Dataset::padded_batch(int64_t size, PaddedBatchOptions options) const { return data::padded(impl_, size, std::move(options)); }
Dataset Dataset::bucket(BucketOptions options) const { return data::bucketed(impl_, std::move(options)); }
Dataset Dataset::prefetch(int64_t count) const { return data::prefetched(impl_, count); }

std::optional<int64_t> Dataset::size() const { return impl_->size(); }
bool Dataset::is_batched() const { return impl_->is_batched(); }

double Dataset::padding_waste() const {
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
Dataset::Dataset(std::shared_ptr<const DatasetImpl> impl) : impl_(std::move(impl)), passes_(std::make_shared<std::atomic<int64_t>>(0)) {}

}  // namespace anyshape
