// Batches of equal rows, or ragged ones, and padded batches.
#include "data/group.h"

#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <algorithm>
#include <array>
#include <atomic>

namespace anyshape::data {
namespace {

// Which fields had unequal rows so far: once ragged they stay so, that the batches of a dataset are of one kind.
class RaggedFields {
 public:
  bool is_ragged(size_t field, bool are_unequal) {
    std::atomic<bool>& known = fields_[std::min(field, fields_.size() - 1)];
    if (are_unequal) known = true;
    return known;
  }

 private:
  std::array<std::atomic<bool>, 64> fields_{};
};

bool are_equal(const std::vector<Tensor>& rows) {
  return std::ranges::all_of(rows, [&](const Tensor& row) { return row.shape().same_as(rows[0].shape()); });
}

int64_t rows_of(const Example& batch) { return batch.x.fields().front().tensor.shape()[0].value(); }

void count_elements(const Data& data, PaddingCount& padding) {
  for (const Data::Field& field : data.fields()) padding.elements += field.tensor.values().shape().count().value();
}

std::optional<Example> joined_batch(DatasetCursor& before, int64_t size, BatchOptions options, RaggedFields& known, int64_t first) {
  if (before.gives_batches() && !options.ragged) return before.next_batch(size);
  constexpr const char* what = "Dataset::batch";
  const Group group = next_group(before, size, first);
  if (group.size() == 0) return std::nullopt;
  return together(what, group, [&](const std::vector<Tensor>& rows, size_t field, bool is_row) {
    const bool is_ragged = options.ragged.value_or(known.is_ragged(field, is_row || !are_equal(rows))) && rows[0].rank() > 0;
    require_equal_sizes(what, rows, group.numbers, is_ragged ? 1 : 0);
    return is_ragged ? ragged_from_rows(rows) : stack(rows);
  });
}

}  // namespace

Dataset batched(Source source, int64_t size, BatchOptions options) {
  require_batch_size("Dataset::batch", size);
  const auto known = std::make_shared<RaggedFields>();
  auto make = [=]() -> NextBatch {
    return [=, first = int64_t{0}](DatasetCursor& before, PaddingCount& padding) mutable -> std::optional<Example> {
      std::optional<Example> batch = joined_batch(before, size, options, *known, first);
      if (!batch || (options.drop_remainder && rows_of(*batch) < size)) return std::nullopt;
      first += rows_of(*batch);
      count_elements(batch->x, padding);
      count_elements(batch->y, padding);
      return batch;
    };
  };
  return batches_of(std::move(source), make, count_of_batches(size, options.drop_remainder));
}

Dataset padded(Source source, int64_t size, PaddedBatchOptions options) {
  constexpr const char* what = "Dataset::padded_batch";
  require_batch_size(what, size);
  std::vector<std::vector<int64_t>> shapes;
  for (const Shape& shape : options.shapes) {
    std::vector<int64_t>& sizes = shapes.emplace_back();
    for (const Dim& dim : shape) sizes.push_back(dim.same_as(dynamic) ? -1 : dim.value());
  }
  auto make = [=]() -> NextBatch {
    return [=, first = int64_t{0}](DatasetCursor& before, PaddingCount& padding) mutable -> std::optional<Example> {
      const Group group = next_group(before, size, first);
      if (group.size() == 0 || (options.drop_remainder && group.size() < size)) return std::nullopt;
      first += group.size();
      return together(what, group, [&](const std::vector<Tensor>& rows, size_t field, bool) {
        const std::vector<int64_t> wanted = field < shapes.size() ? shapes[field] : std::vector<int64_t>();
        if (field < shapes.size() && wanted.size() != static_cast<size_t>(rows[0].rank())) {
          throw ArgumentError(fmt::format("{}: the shape of field {} has rank {}, its elements {}; expected equal ranks.", what, field,
                                          wanted.size(), rows[0].rank()));
        }
        return padded_rows(what, rows, group.numbers, wanted, options.value, padding);
      });
    };
  };
  return batches_of(std::move(source), make, count_of_batches(size, options.drop_remainder));
}

}  // namespace anyshape::data
