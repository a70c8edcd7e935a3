// Batches of equal rows, or ragged ones, and padded batches.
#include "data/group.h"
#include "data/joined.h"
#include "data/pieces.h"

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

int64_t rows_of(const Example& batch) { return batch.x.fields().front().tensor.shape()[0].value(); }

void count_elements(const Data& data, PaddingCount& padding) {
  for (const Data::Field& field : data.fields()) padding.elements += field.tensor.values().shape().count().value();
}

Example joined(const Group& group, BatchOptions options, RaggedFields& known) {
  constexpr const char* what = "Dataset::batch";
  return together(what, group, [&](const FieldRows& rows, size_t field, bool is_row) {
    const bool is_ragged = options.ragged.value_or(known.is_ragged(field, is_row || !rows.are_equal)) && rows.tensors[0].rank() > 0;
    if (!rows.are_equal) require_equal_sizes(what, rows.tensors, group.numbers, is_ragged ? 1 : 0);
    return is_ragged ? ragged_of(rows.tensors) : stacked(rows.tensors);
  });
}

std::optional<Example> joined_batch(DatasetCursor& before, int64_t size, BatchOptions options, RaggedFields& known, int64_t first) {
  if (before.gives_batches() && !options.ragged) return before.next_batch(size);
  const int64_t at_once = are_calls_followed() ? size : most_rows_at_once;
  std::vector<Example> pieces;
  int64_t count = 0;
  for (bool is_over = false; !is_over && count < size;) {
    const int64_t wanted = std::min(at_once, size - count);
    const Group group = next_group(before, wanted, first + count);
    is_over = group.size() < wanted;
    count += group.size();
    if (group.size() > 0) pieces.push_back(joined(group, options, known));
  }
  if (pieces.empty()) return std::nullopt;
  if (pieces.size() == 1) return std::move(pieces[0]);
  std::optional<Example> batch = appended(pieces);
  return batch ? std::move(batch) : joined(rows_again(pieces, first), options, known);
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
      return together(what, group, [&](const FieldRows& rows, size_t field, bool) {
        const std::vector<int64_t> wanted = field < shapes.size() ? shapes[field] : std::vector<int64_t>();
        if (field < shapes.size() && wanted.size() != static_cast<size_t>(rows.tensors[0].rank())) {
          throw ArgumentError(fmt::format("{}: the shape of field {} has rank {}, its elements {}; expected equal ranks.", what, field,
                                          wanted.size(), rows.tensors[0].rank()));
        }
        return padded_rows(what, rows.tensors, group.numbers, wanted, options.value, padding);
      });
    };
  };
  return batches_of(std::move(source), make, count_of_batches(size, options.drop_remainder));
}

}  // namespace anyshape::data
