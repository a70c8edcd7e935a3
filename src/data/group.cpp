// Joining elements.
#include "data/group.h"
#include "data/joined.h"

#include "base/checked.h"
#include "tensor/tensor_impl.h"

#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <algorithm>

namespace anyshape::data {
namespace {

class BatchCursor final : public DatasetCursor {
 public:
  BatchCursor(std::unique_ptr<DatasetCursor> before, NextBatch make) : before_(std::move(before)), make_(std::move(make)) {}
  std::optional<Example> next() override {
    std::optional<Example> batch = is_over_ ? std::nullopt : make_(*before_, padding_);
    is_over_ = !batch;
    return batch;
  }
  PaddingCount padding() const override { return padding_; }

 private:
  std::unique_ptr<DatasetCursor> before_;
  NextBatch make_;
  PaddingCount padding_;
  bool is_over_ = false;
};

class Batched final : public DatasetImpl {
 public:
  Batched(Source before, std::function<NextBatch()> make, CountBatches size, bool has_all_rows)
      : before_(std::move(before)), make_(std::move(make)), size_(std::move(size)), has_all_rows_(has_all_rows) {}
  std::unique_ptr<DatasetCursor> open(int64_t pass) const override { return std::make_unique<BatchCursor>(before_->open(pass), make_()); }
  std::optional<int64_t> size() const override { return size_(before_->size()); }
  bool is_batched() const override { return true; }
  bool is_endless() const override { return before_->is_endless(); }
  std::optional<int64_t> row_total() const override { return has_all_rows_ ? before_->size() : std::nullopt; }
  const DatasetImpl* before() const override { return before_.get(); }

 private:
  Source before_;
  std::function<NextBatch()> make_;
  CountBatches size_;
  bool has_all_rows_;
};

[[noreturn]] void throw_unlike(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers, size_t row,
                               const char* wanted) {
  throw DataError(fmt::format("{}: element {}: a field is {}, that of element {} {}; expected {}.", what, numbers[row], describe(rows[row]),
                              numbers[0], describe(rows[0]), wanted));
}

void require_like_first(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers, size_t i) {
  if (rows[i].dtype() == rows[0].dtype() && rows[i].rank() == rows[0].rank()) return;
  throw_unlike(what, rows, numbers, i, "one dtype and one rank");
}

// A field of all elements. Each is looked at once, while it is at hand: of many none is left in the cache when all have been seen.
template <class FieldOf>
FieldRows rows_of(const char* what, const Group& group, const FieldOf& field_of) {
  FieldRows rows;
  rows.tensors.reserve(group.elements.size());
  for (size_t i = 0; i < group.elements.size(); ++i) {
    const Tensor& row = rows.tensors.emplace_back(field_of(group.elements[i]));
    require_like_first(what, rows.tensors, group.numbers, i);
    rows.are_equal = rows.are_equal && are_equal_from(row, rows.tensors[0], 0);
  }
  return rows;
}

}  // namespace

void require_batch_size(const char* what, int64_t size) {
  if (size < 1) throw ArgumentError(fmt::format("{}: the batch size is {}; expected at least 1.", what, size));
}

void Group::add(Example element, int64_t number) {
  elements.push_back(std::move(element));
  numbers.push_back(number);
}

Group next_group(DatasetCursor& before, int64_t size, int64_t first) {
  Group group;
  while (group.size() < size) {
    std::optional<Example> element = before.next();
    if (!element) break;
    group.add(std::move(*element), first + group.size());
  }
  return group;
}

void require_whole(const char* what, const Example& element, int64_t number) {
  if (!element.x.defined()) throw DataError(fmt::format("{}: element {}: it has no input; expected an Example with .x.", what, number));
  for (const Data* part : {&element.x, &element.y, &element.sample_weight}) {
    if (std::ranges::all_of(part->fields(), [](const Data::Field& field) { return field.tensor.defined(); })) continue;
    throw DataError(fmt::format("{}: element {}: a field has no tensor; expected one in each.", what, number));
  }
}

void require_one_kind(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers) {
  for (size_t i = 1; i < rows.size(); ++i) require_like_first(what, rows, numbers, i);
}

void require_same_fields(const char* what, const Group& group) {
  const Example& one = group.elements[0];
  for (size_t i = 0; i < group.elements.size(); ++i) {
    const Example& other = group.elements[i];
    require_whole(what, other, group.numbers[i]);
    if (other.x.fields().size() == one.x.fields().size() && other.y.fields().size() == one.y.fields().size() &&
        other.sample_weight.fields().size() == one.sample_weight.fields().size()) {
      continue;
    }
    throw DataError(fmt::format("{}: element {}: it has other fields than element {}; expected the same in all.", what, group.numbers[i],
                                group.numbers[0]));
  }
}

Example together(const char* what, const Group& group, const Join& join) {
  require_same_fields(what, group);
  const Example& one = group.elements[0];
  size_t number = 0;
  auto joined = [&](const Data Example::* part) {
    std::vector<Data::Field> fields;
    for (size_t field = 0; field < (one.*part).fields().size(); ++field) {
      const Data::Field& kind = (one.*part).fields()[field];
      const FieldRows rows = rows_of(what, group, [&](const Example& each) { return (each.*part).fields()[field].tensor; });
      fields.push_back({kind.name, join(rows, number++, kind.is_row)});
    }
    return Data(std::move(fields));
  };
  Example example;
  example.x = joined(&Example::x);
  example.y = joined(&Example::y);
  std::vector<Data::Field> all_weights;
  for (size_t field = 0; field < one.sample_weight.fields().size(); ++field) {
    const FieldRows weights = rows_of(what, group, [&](const Example& each) { return each.sample_weight.fields()[field].tensor; });
    if (!weights.are_equal) require_equal_sizes(what, weights.tensors, group.numbers, 0);
    all_weights.push_back({one.sample_weight.fields()[field].name, stacked(weights.tensors)});
  }
  example.sample_weight = Data(std::move(all_weights));
  return example;
}

void require_equal_sizes(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers, int axis) {
  for (size_t i = 1; i < rows.size(); ++i) {
    if (are_equal_from(rows[i], rows[0], axis)) continue;
    throw_unlike(what, rows, numbers, i,
                 axis == 0 ? "equal shapes"
                           : "shapes that differ in their first axis only. Call group_by_shape(size) for batches of one shape each");
  }
}

Tensor padded_rows(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers,
                   const std::vector<int64_t>& wanted, double value, PaddingCount& padding) {
  const int rank = rows[0].rank();
  std::vector<int64_t> sizes(static_cast<size_t>(rank), 0);
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    const bool is_given = axis < wanted.size() && wanted[axis] >= 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      const int64_t size = rows[i].shape()[static_cast<int>(axis)].value();
      if (is_given && size > wanted[axis]) {
        throw DataError(fmt::format("{}: element {}: it has {} along axis {}; expected at most the {} of the shape given.", what,
                                    numbers[i], size, axis, wanted[axis]));
      }
      sizes[axis] = std::max(sizes[axis], size);
    }
    if (is_given) sizes[axis] = wanted[axis];
  }
  const auto count = static_cast<int64_t>(rows.size());
  int64_t real = 0, full = count;
  for (const Tensor& row : rows) real += row.shape().count().value();
  for (const int64_t size : sizes) full = checked_multiply(full, size, "number of padded elements");
  padding.elements += full;
  padding.padded += full - real;
  if (full == real) return stacked(rows);
  const Tensor filler = cast(Tensor(value), rows[0].dtype());
  bool is_plain = rank > 0 && std::ranges::all_of(rows, [&](const Tensor& row) { return are_equal_from(row, rows[0], 1); });  // two ops
  for (size_t axis = 1; axis < sizes.size(); ++axis) is_plain = is_plain && sizes[axis] == rows[0].shape()[static_cast<int>(axis)].value();
  if (is_plain) return to_padded(ragged_of(rows), {.value = filler, .length = Dim(sizes[0])});
  std::vector<Tensor> filled;
  for (const Tensor& row : rows) {
    std::vector<PadWidth> amounts;
    for (int axis = 0; axis < rank; ++axis) amounts.push_back({0, sizes[static_cast<size_t>(axis)] - row.shape()[axis].value()});
    filled.push_back(pad(row, amounts, {.value = filler}));
  }
  return stacked(filled);
}

Dataset batches_of(Source source, std::function<NextBatch()> make, CountBatches size) {
  return Dataset(std::make_shared<Batched>(std::move(source), std::move(make), std::move(size), false));
}

Dataset batches_of_open_number(Source source, std::function<NextBatch()> make, bool has_all_rows) {
  auto size = [](std::optional<int64_t>) { return std::optional<int64_t>(); };
  return Dataset(std::make_shared<Batched>(std::move(source), std::move(make), size, has_all_rows));
}

CountBatches count_of_batches(int64_t size, bool drop_remainder) {
  return [=](std::optional<int64_t> before) -> std::optional<int64_t> {
    if (!before) return std::nullopt;
    return drop_remainder ? *before / size : *before / size + (*before % size == 0 ? 0 : 1);
  };
}

}  // namespace anyshape::data
