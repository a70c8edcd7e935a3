// Joining elements.
#include "data/group.h"

#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <algorithm>

namespace anyshape::data {
namespace {

class BatchCursor final : public DatasetCursor {
 public:
  BatchCursor(std::unique_ptr<DatasetCursor> before, NextBatch make) : before_(std::move(before)), make_(std::move(make)) {}
  std::optional<Example> next() override { return make_(*before_, padding_); }
  PaddingCount padding() const override { return padding_; }

 private:
  std::unique_ptr<DatasetCursor> before_;
  NextBatch make_;
  PaddingCount padding_;
};

class Batched final : public DatasetImpl {
 public:
  Batched(Source before, std::function<NextBatch()> make, std::function<std::optional<int64_t>(std::optional<int64_t>)> size)
      : before_(std::move(before)), make_(std::move(make)), size_(std::move(size)) {}
  std::unique_ptr<DatasetCursor> open(int64_t pass) const override { return std::make_unique<BatchCursor>(before_->open(pass), make_()); }
  std::optional<int64_t> size() const override { return size_(before_->size()); }
  bool is_batched() const override { return true; }
  bool is_endless() const override { return before_->is_endless(); }

 private:
  Source before_;
  std::function<NextBatch()> make_;
  std::function<std::optional<int64_t>(std::optional<int64_t>)> size_;
};

bool differ_in_first_axis_only(const std::vector<Tensor>& rows) {
  const Shape first = rows[0].shape();
  return first.rank() > 0 && std::ranges::all_of(rows, [&](const Tensor& row) {
           Shape shape = row.shape();
           if (shape.rank() != first.rank()) return false;
           shape[0] = first[0];
           return shape.same_as(first) && row.dtype() == rows[0].dtype();
         });
}

}  // namespace

void require_batch_size(const char* what, int64_t size) {
  if (size < 1) throw ArgumentError(fmt::format("{}: the batch size is {}; expected at least 1.", what, size));
}

Group next_group(DatasetCursor& before, int64_t size) {
  Group group;
  while (static_cast<int64_t>(group.size()) < size) {
    std::optional<Example> element = before.next();
    if (!element) break;
    group.push_back(std::move(*element));
  }
  return group;
}

Example together(const char* what, const Group& group, int64_t first, const Join& join) {
  for (size_t i = 1; i < group.size(); ++i) {
    const Example &one = group[0], &other = group[i];
    if (other.x.fields().size() == one.x.fields().size() && other.y.fields().size() == one.y.fields().size() &&
        other.sample_weight.defined() == one.sample_weight.defined()) {
      continue;
    }
    throw DataError(fmt::format("{}: element {}: it has other fields than element {}; expected the same in all.", what,
                                first + static_cast<int64_t>(i), first));
  }
  size_t number = 0;
  auto joined = [&](const Data Example::* part) {
    std::vector<Data::Field> fields;
    for (size_t field = 0; field < (group[0].*part).fields().size(); ++field) {
      const Data::Field& kind = (group[0].*part).fields()[field];
      std::vector<Tensor> rows;
      for (const Example& example : group) rows.push_back((example.*part).fields()[field].tensor);
      fields.push_back({kind.name, join(rows, number++, kind.is_row)});
    }
    return Data(std::move(fields));
  };
  Example example;
  example.x = joined(&Example::x);
  example.y = joined(&Example::y);
  if (group[0].sample_weight.defined()) {
    std::vector<Tensor> weights;
    for (const Example& each : group) weights.push_back(each.sample_weight);
    example.sample_weight = stack(weights);
  }
  return example;
}

Tensor padded_rows(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& wanted, double value,
                   PaddingCount& padding) {
  const int rank = rows[0].rank();
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 0);
  for (const Tensor& row : rows) {
    if (row.rank() != rank) {
      throw DataError(fmt::format("{}: elements have ranks {} and {}; expected one.", what, rank, row.rank()));
    }
    for (size_t axis = 0; axis < sizes.size(); ++axis) {
      sizes[axis] = std::max(sizes[axis], row.shape()[static_cast<int>(axis)].value());
    }
  }
  for (size_t axis = 0; axis < std::min(wanted.size(), sizes.size()); ++axis) {
    if (wanted[axis] < 0) continue;
    if (wanted[axis] < sizes[axis]) {
      throw DataError(fmt::format("{}: an element has {} along axis {}; expected at most the {} of the shape given.", what, sizes[axis],
                                  axis, wanted[axis]));
    }
    sizes[axis] = wanted[axis];
  }
  const auto count = static_cast<int64_t>(rows.size());
  int64_t real = 0, full = count;
  for (const Tensor& row : rows) real += row.shape().count().value();
  for (const int64_t size : sizes) full *= size;
  padding.elements += full;
  padding.padded += full - real;
  if (full == real) return stack(rows);
  const Tensor filler = cast(Tensor(value), rows[0].dtype());
  bool is_plain = differ_in_first_axis_only(rows);  // two ops for all rows
  for (size_t axis = 1; axis < sizes.size(); ++axis) is_plain = is_plain && sizes[axis] == rows[0].shape()[static_cast<int>(axis)].value();
  if (is_plain) return to_padded(ragged_from_rows(rows), {.value = filler, .length = Dim(sizes[0])});
  std::vector<Tensor> filled;
  for (const Tensor& row : rows) {
    std::vector<PadWidth> amounts;
    for (int axis = 0; axis < rank; ++axis) amounts.push_back({0, sizes[static_cast<size_t>(axis)] - row.shape()[axis].value()});
    filled.push_back(pad(row, amounts, {.value = filler}));
  }
  return stack(filled);
}

Dataset batches_of(Source source, std::function<NextBatch()> make, std::function<std::optional<int64_t>(std::optional<int64_t>)> size) {
  return Dataset(std::make_shared<Batched>(std::move(source), std::move(make), std::move(size)));
}

std::function<std::optional<int64_t>(std::optional<int64_t>)> count_of_batches(int64_t size, bool drop_remainder) {
  return [=](std::optional<int64_t> before) -> std::optional<int64_t> {
    if (!before) return std::nullopt;
    return drop_remainder ? *before / size : *before / size + (*before % size == 0 ? 0 : 1);
  };
}

}  // namespace anyshape::data
