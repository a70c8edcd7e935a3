// Elements put together: batches of equal or ragged rows, padded batches, buckets by length.
#include "data/dataset_impl.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <array>
#include <utility>

namespace anyshape::data {
namespace {

using Group = std::vector<Example>;

void require_size(const char* what, int64_t size) {
  if (size < 1) throw ArgumentError(fmt::format("{}: the batch size is {}; expected at least 1.", what, size));
}

// The tensors of one field in all elements.
std::vector<Tensor> column(const Group& group, bool of_target, size_t field) {
  std::vector<Tensor> tensors;
  for (const Example& example : group) tensors.push_back((of_target ? example.y : example.x).fields().at(field).tensor);
  return tensors;
}

bool are_equal(const std::vector<Tensor>& rows) {
  return std::ranges::all_of(rows, [&](const Tensor& row) { return row.shape().same_as(rows[0].shape()); });
}

// Each field of all elements as one tensor.
template <class Join>
Data joined(const Group& group, bool of_target, const Join& join) {
  std::vector<Data::Field> fields;
  const Data& first = of_target ? group[0].y : group[0].x;
  for (size_t field = 0; field < first.fields().size(); ++field) {
    fields.push_back({first.fields()[field].name, join(column(group, of_target, field), of_target, field)});
  }
  return Data(std::move(fields));
}

template <class Join>
Example together(const Group& group, const Join& join) {
  Example example{.x = joined(group, false, join)};
  if (group[0].y.defined()) example.y = joined(group, true, join);
  if (group[0].sample_weight.defined()) {
    std::vector<Tensor> weights;
    for (const Example& each : group) weights.push_back(each.sample_weight);
    example.sample_weight = stack(weights);
  }
  return example;
}

class BatchCursor final : public DatasetCursor {
 public:
  using Make = std::function<std::optional<Example>(DatasetCursor& before, PaddingCount& padding)>;
  BatchCursor(std::unique_ptr<DatasetCursor> before, Make make) : before_(std::move(before)), make_(std::move(make)) {}
  std::optional<Example> next() override { return make_(*before_, padding_); }
  PaddingCount padding() const override { return padding_; }

 private:
  std::unique_ptr<DatasetCursor> before_;
  Make make_;
  PaddingCount padding_;
};

class Batched final : public DatasetImpl {
 public:
  using MakeCursor = std::function<BatchCursor::Make()>;
  Batched(Source before, MakeCursor make, std::function<std::optional<int64_t>(std::optional<int64_t>)> size)
      : before_(std::move(before)), make_(std::move(make)), size_(std::move(size)) {}
  std::unique_ptr<DatasetCursor> open(int64_t pass) const override { return std::make_unique<BatchCursor>(before_->open(pass), make_()); }
  std::optional<int64_t> size() const override { return size_(before_->size()); }
  bool is_batched() const override { return true; }

 private:
  Source before_;
  MakeCursor make_;
  std::function<std::optional<int64_t>(std::optional<int64_t>)> size_;
};

std::function<std::optional<int64_t>(std::optional<int64_t>)> count_of_batches(int64_t size, bool drop_remainder) {
  return [=](std::optional<int64_t> before) -> std::optional<int64_t> {
    if (!before) return std::nullopt;
    return drop_remainder ? *before / size : (*before + size - 1) / size;
  };
}

// The next `size` elements, fewer at the end.
Group next_group(DatasetCursor& before, int64_t size) {
  Group group;
  while (static_cast<int64_t>(group.size()) < size) {
    std::optional<Example> element = before.next();
    if (!element) break;
    group.push_back(std::move(*element));
  }
  return group;
}

// Rows filled up at the end to the sizes given, or to the longest; -1 leaves a size to the batch.
Tensor padded_rows(const std::vector<Tensor>& rows, const std::vector<int64_t>& wanted, double value, PaddingCount& padding) {
  const int rank = rows[0].rank();
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 0);
  for (const Tensor& row : rows) {
    if (row.rank() != rank) throw DataError(fmt::format("Dataset::padded_batch: elements have ranks {} and {}; expected one.", rank, row.rank()));
    for (int axis = 0; axis < rank; ++axis) sizes[static_cast<size_t>(axis)] = std::max(sizes[static_cast<size_t>(axis)], row.shape()[axis].value());
  }
  for (size_t axis = 0; axis < std::min(wanted.size(), sizes.size()); ++axis) {
    if (wanted[axis] < 0) continue;
    if (wanted[axis] < sizes[axis]) {
      throw DataError(fmt::format("Dataset::padded_batch: an element has {} along axis {}; expected at most the {} of the shape given.", sizes[axis],
                                  axis, wanted[axis]));
    }
    sizes[axis] = wanted[axis];
  }
  std::vector<Tensor> filled;
  for (const Tensor& row : rows) {
    std::vector<PadWidth> amounts;
    for (int axis = 0; axis < rank; ++axis) amounts.push_back({0, sizes[static_cast<size_t>(axis)] - row.shape()[axis].value()});
    filled.push_back(rank == 0 ? row : pad(row, amounts, {.value = cast(Tensor(value), row.dtype())}));
    padding.elements += filled.back().shape().count().value();
    padding.padded += filled.back().shape().count().value() - row.shape().count().value();
  }
  return stack(filled);
}

}  // namespace

Dataset batched(Source source, int64_t size, bool drop_remainder) {
  require_size("Dataset::batch", size);
  // Once rows of a field were unequal they are ragged for good: the batches of one dataset are of one kind.
  const auto ragged_fields = std::make_shared<std::array<std::atomic<bool>, 64>>();
  const Batched::MakeCursor make = [=] {
    return [=](DatasetCursor& before, PaddingCount& padding) -> std::optional<Example> {
      const Group group = next_group(before, size);
      if (group.empty() || (drop_remainder && static_cast<int64_t>(group.size()) < size)) return std::nullopt;
      return together(group, [&](const std::vector<Tensor>& rows, bool of_target, size_t field) {
        const Data& first = of_target ? group[0].y : group[0].x;
        std::atomic<bool>& is_ragged = (*ragged_fields)[std::min<size_t>(field, 31) + (of_target ? 32 : 0)];
        if (first.fields()[field].is_row || !are_equal(rows)) is_ragged = true;
        const Tensor all = is_ragged ? ragged_from_rows(rows) : stack(rows);
        padding.elements += all.values().shape().count().value();
        return all;
      });
    };
  };
  return Dataset(std::make_shared<Batched>(std::move(source), make, count_of_batches(size, drop_remainder)));
}

Dataset padded(Source source, int64_t size, PaddedBatchOptions options) {
  require_size("Dataset::padded_batch", size);
  std::vector<std::vector<int64_t>> shapes;
  for (const Shape& shape : options.shapes) {
    std::vector<int64_t>& sizes = shapes.emplace_back();
    for (const Dim& dim : shape) sizes.push_back(dim.same_as(dynamic) ? -1 : dim.value());
  }
  const Batched::MakeCursor make = [=] {
    return [=](DatasetCursor& before, PaddingCount& padding) -> std::optional<Example> {
      const Group group = next_group(before, size);
      if (group.empty() || (options.drop_remainder && static_cast<int64_t>(group.size()) < size)) return std::nullopt;
      const size_t inputs = group[0].x.fields().size();
      return together(group, [&](const std::vector<Tensor>& rows, bool of_target, size_t field) {
        const size_t place = field + (of_target ? inputs : 0);
        return padded_rows(rows, place < shapes.size() ? shapes[place] : std::vector<int64_t>(), options.value, padding);
      });
    };
  };
  return Dataset(std::make_shared<Batched>(std::move(source), make, count_of_batches(size, options.drop_remainder)));
}

Dataset bucketed(Source source, BucketOptions options) {
  if (!std::ranges::is_sorted(options.boundaries) || options.boundaries.empty()) {
    throw ArgumentError("Dataset::bucket: the boundaries are none or not in order; expected ascending lengths.");
  }
  const size_t buckets = options.boundaries.size() + 1;
  if (!options.batch_sizes.empty() && options.batch_sizes.size() != buckets) {
    throw ArgumentError(fmt::format("Dataset::bucket: {} batch sizes for {} buckets; expected one per bucket, one more than boundaries.",
                                    options.batch_sizes.size(), buckets));
  }
  if (options.batch_sizes.empty()) options.batch_sizes.assign(buckets, options.batch_size);
  for (const int64_t size : options.batch_sizes) require_size("Dataset::bucket", size);
  const Batched::MakeCursor make = [=] {
    return [=, groups = std::vector<Group>(buckets), is_over = false](DatasetCursor& before, PaddingCount& padding) mutable -> std::optional<Example> {
      auto finish = [&](size_t bucket) {
        const Group group = std::exchange(groups[bucket], {});
        const bool is_last = bucket + 1 == buckets;
        if (options.pad_to_boundary && is_last) {
          throw DataError(fmt::format("Dataset::bucket: an element is longer than the last boundary, {}; expected shorter ones with pad_to_boundary.",
                                      options.boundaries.back()));
        }
        const std::vector<int64_t> wanted = options.pad_to_boundary ? std::vector<int64_t>{options.boundaries[bucket] - 1} : std::vector<int64_t>();
        return together(group, [&](const std::vector<Tensor>& rows, bool of_target, size_t) {
          return padded_rows(rows, of_target ? std::vector<int64_t>() : wanted, options.value, padding);
        });
      };
      while (!is_over) {
        std::optional<Example> element = before.next();
        if (!element) {
          is_over = true;
          break;
        }
        const Tensor& first = element->x.fields().front().tensor;
        const int64_t length = first.rank() == 0 ? 0 : first.shape()[0].value();
        const auto bucket = static_cast<size_t>(std::ranges::upper_bound(options.boundaries, length) - options.boundaries.begin());
        groups[bucket].push_back(std::move(*element));
        if (static_cast<int64_t>(groups[bucket].size()) == options.batch_sizes[bucket]) return finish(bucket);
      }
      for (size_t bucket = 0; bucket < buckets && !options.drop_remainder; ++bucket) {
        if (!groups[bucket].empty()) return finish(bucket);
      }
      return std::nullopt;
    };
  };
  return Dataset(std::make_shared<Batched>(std::move(source), make, [](std::optional<int64_t>) { return std::optional<int64_t>(); }));
}

}  // namespace anyshape::data
