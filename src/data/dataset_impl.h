// A dataset behind its handle: something that can be gone through again and again.
#pragma once
#include <anyshape/dataset.h>

#include <memory>
#include <optional>

namespace anyshape {

// How many elements of tensors were given so far, and how many of them only fill up.
struct PaddingCount {
  int64_t elements = 0;
  int64_t padded = 0;
};

// One pass. Not shared between threads.
class DatasetCursor {
 public:
  virtual ~DatasetCursor() = default;
  virtual std::optional<Example> next() = 0;
  virtual PaddingCount padding() const { return {}; }
};

class DatasetImpl {
 public:
  virtual ~DatasetImpl() = default;
  // `pass` counts from 0: what is shuffled anew each time depends on it.
  virtual std::unique_ptr<DatasetCursor> open(int64_t pass) const = 0;
  virtual std::optional<int64_t> size() const { return std::nullopt; }
  virtual bool is_batched() const { return false; }
};

namespace data {

using Source = std::shared_ptr<const DatasetImpl>;

// Batches of a source's elements; in batching.cpp.
Dataset batched(Source source, int64_t size, bool drop_remainder);
Dataset padded(Source source, int64_t size, PaddedBatchOptions options);
Dataset bucketed(Source source, BucketOptions options);
Dataset prefetched(Source source, int64_t count);  // in prefetch.cpp

}  // namespace data
}  // namespace anyshape
