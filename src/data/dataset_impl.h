// A dataset behind its handle: something that can be gone through again and again.
#pragma once
#include <anyshape/dataset.h>
#include <anyshape/error.h>

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace anyshape {

using detail::DatasetCursor;
using detail::DatasetImpl;

// How many elements of tensors were given so far, and how many of them only fill up.
struct PaddingCount {
  int64_t elements = 0;
  int64_t padded = 0;
};

// What is known of elements that come from a folder of images.
struct FolderFacts {
  virtual ~FolderFacts() = default;
  // The files that no pass has left out, in order, and those that one has: they cannot be read.
  virtual std::vector<std::string> file_names() const = 0;
  virtual std::vector<std::string> left_out() const = 0;
  virtual bool is_news(size_t left_out) const = 0;  // whether so many are others than when it was asked before

  std::vector<std::string> class_names;
};

// One pass. Not shared between threads.
class detail::DatasetCursor {
 public:
  virtual ~DatasetCursor() = default;
  virtual std::optional<Example> next() = 0;
  // Of the element that next() gave last: where it stands in a source that gives its rows in any order.
  virtual std::optional<int64_t> number() const { return std::nullopt; }
  // The next `size` elements as one batch, fewer at the end, from a source that has its rows together; none at the end.
  virtual bool gives_batches() const { return false; }
  virtual std::optional<Example> next_batch(int64_t) { return std::nullopt; }
  virtual PaddingCount padding() const { return {}; }
};

class detail::DatasetImpl {
 public:
  virtual ~DatasetImpl() = default;
  // `pass` counts from 0: what is shuffled anew each time depends on it.
  virtual std::unique_ptr<DatasetCursor> open(int64_t pass) const = 0;
  virtual std::optional<int64_t> size() const { return std::nullopt; }
  virtual bool is_batched() const { return false; }
  virtual bool is_endless() const { return false; }
  // A source that has its rows together, and knows how many, can give them in another order. Where a row turns out to be none there are fewer elements.
  virtual int64_t row_count() const { return 0; }
  virtual std::unique_ptr<DatasetCursor> open_in_order(const std::vector<int64_t>&) const { return nullptr; }
  // The rows of all batches, where they are known and the number of batches is not.
  virtual std::optional<int64_t> row_total() const { return std::nullopt; }
  // The dataset whose elements this one gives, perhaps changed; none for a source.
  virtual const DatasetImpl* before() const { return nullptr; }
  virtual const FolderFacts* folder() const { return before() == nullptr ? nullptr : before()->folder(); }
};

namespace data {

using Source = std::shared_ptr<const DatasetImpl>;
using Next = std::function<std::optional<Example>()>;

// Rows of tensors; in tensor_source.cpp.
Dataset from_tensors(const Data& x, const Data& y, const Data& sample_weight);
// Batches of a source's elements; in batch.cpp and bucket.cpp.
Dataset batched(Source source, int64_t size, BatchOptions options);
Dataset padded(Source source, int64_t size, PaddedBatchOptions options);
Dataset bucketed(Source source, BucketOptions options);
Dataset grouped_by_shape(Source source, int64_t size, GroupByShapeOptions options);  // in group_by_shape.cpp
Dataset mapped(Source source, std::function<Example(const Example&)> callable);      // in map.cpp
Dataset shuffled(Source source, ShuffleOptions options);                             // in shuffle.cpp
Dataset cached(Source source);                                                       // in cache.cpp
Dataset prefetched(Source source, int64_t count);                                    // in prefetch.cpp

int64_t drawn_seed();  // from the process's random numbers, so that set_seed decides; in drawn_seed.cpp

// The user's callable on element `number`; what it throws arrives with the number.
template <class Callable>
auto with_number(const char* what, int64_t number, const Callable& callable) {
  try {
    return callable();
  } catch (const std::exception& error) {
    throw DataError(fmt::format("{}: element {}: {}", what, number, error.what()));
  }
}

}  // namespace data
}  // namespace anyshape
