// Padded batches of elements of about equal length.
#include "data/group.h"

#include <algorithm>
#include <utility>

namespace anyshape::data {
namespace {

constexpr const char* what = "Dataset::bucket";

BucketOptions checked(BucketOptions options) {
  if (options.boundaries.empty() ||
      std::ranges::adjacent_find(options.boundaries, std::ranges::greater_equal()) != options.boundaries.end()) {
    throw ArgumentError(fmt::format("{}: the boundaries are none or not in order; expected ascending lengths.", what));
  }
  const size_t buckets = options.boundaries.size() + 1;
  if (options.batch_sizes.empty()) options.batch_sizes.assign(buckets, options.batch_size);
  if (options.batch_sizes.size() != buckets) {
    throw ArgumentError(fmt::format("{}: {} batch sizes for {} buckets; expected one per bucket, one more than boundaries.", what,
                                    options.batch_sizes.size(), buckets));
  }
  for (const int64_t size : options.batch_sizes) require_batch_size(what, size);
  return options;
}

// One pass: elements wait in their bucket until it is full, or until there are no more.
class Buckets {
 public:
  explicit Buckets(BucketOptions options) : options_(std::move(options)), groups_(options_.batch_sizes.size()) {}

  std::optional<Example> next(DatasetCursor& before, PaddingCount& padding) {
    while (std::optional<Example> element = is_over_ ? std::nullopt : before.next()) {
      require_whole(what, *element, number_);
      const Tensor& first = element->x.fields().front().tensor;
      const int64_t length = first.rank() == 0 ? 0 : first.shape()[0].value();
      const auto bucket = static_cast<size_t>(std::ranges::upper_bound(options_.boundaries, length) - options_.boundaries.begin());
      if (options_.pad_to_boundary && bucket == options_.boundaries.size()) {
        throw DataError(fmt::format("{}: element {}: its length is {}; expected less than the last boundary, {}, with pad_to_boundary.",
                                    what, number_, length, options_.boundaries.back()));
      }
      groups_[bucket].add(std::move(*element), number_++);
      if (groups_[bucket].size() == options_.batch_sizes[bucket]) return finish(bucket, padding);
    }
    is_over_ = true;
    for (size_t bucket = 0; bucket < groups_.size() && !options_.drop_remainder; ++bucket) {
      if (groups_[bucket].size() > 0) return finish(bucket, padding);
    }
    return std::nullopt;
  }

 private:
  Example finish(size_t bucket, PaddingCount& padding) {
    const Group group = std::exchange(groups_[bucket], {});
    return together(what, group, [&](const FieldRows& rows, size_t field, bool) {
      const bool to_boundary = options_.pad_to_boundary && field == 0;
      return padded_rows(what, rows.tensors, group.numbers,
                         to_boundary ? std::vector<int64_t>{options_.boundaries[bucket] - 1} : std::vector<int64_t>(), options_.value,
                         padding);
    });
  }

  BucketOptions options_;
  std::vector<Group> groups_;
  int64_t number_ = 0;
  bool is_over_ = false;
};

}  // namespace

Dataset bucketed(Source source, BucketOptions options) {
  options = checked(std::move(options));
  auto make = [options]() -> NextBatch {
    return [buckets = Buckets(options)](DatasetCursor& before, PaddingCount& padding) mutable { return buckets.next(before, padding); };
  };
  return batches_of_open_number(std::move(source), make, !options.drop_remainder);
}

}  // namespace anyshape::data
