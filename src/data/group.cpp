// Joining elements.
#include "data/group.h"

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

[[noreturn]] void throw_unlike(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers, size_t row,
                               const char* wanted) {
  throw DataError(fmt::format("{}: element {}: a field is {}, that of element {} {}; expected {}.", what, numbers[row], describe(rows[row]),
                              numbers[0], describe(rows[0]), wanted));
}

void require_one_kind(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers) {
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].dtype() != rows[0].dtype() || rows[i].rank() != rows[0].rank()) {
      throw_unlike(what, rows, numbers, i, "one dtype and one rank");
    }
  }
}

bool are_equal_from(const Tensor& a, const Tensor& b, int axis) {
  for (; axis < a.rank(); ++axis) {
    if (!a.shape()[axis].same_as(b.shape()[axis])) return false;
  }
  return true;
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
  for (const Data* part : {&element.x, &element.y}) {
    if (std::ranges::all_of(part->fields(), [](const Data::Field& field) { return field.tensor.defined(); })) continue;
    throw DataError(fmt::format("{}: element {}: a field has no tensor; expected one in each.", what, number));
  }
}

Example together(const char* what, const Group& group, const Join& join) {
  const Example& one = group.elements[0];
  for (size_t i = 0; i < group.elements.size(); ++i) {
    const Example& other = group.elements[i];
    require_whole(what, other, group.numbers[i]);
    if (other.x.fields().size() == one.x.fields().size() && other.y.fields().size() == one.y.fields().size() &&
        other.sample_weight.defined() == one.sample_weight.defined()) {
      continue;
    }
    throw DataError(fmt::format("{}: element {}: it has other fields than element {}; expected the same in all.", what, group.numbers[i],
                                group.numbers[0]));
  }
  size_t number = 0;
  auto joined = [&](const Data Example::* part) {
    std::vector<Data::Field> fields;
    for (size_t field = 0; field < (one.*part).fields().size(); ++field) {
      const Data::Field& kind = (one.*part).fields()[field];
      std::vector<Tensor> rows;
      for (const Example& each : group.elements) rows.push_back((each.*part).fields()[field].tensor);
      require_one_kind(what, rows, group.numbers);
      fields.push_back({kind.name, join(rows, number++, kind.is_row)});
    }
    return Data(std::move(fields));
  };
  Example example;
  example.x = joined(&Example::x);
  example.y = joined(&Example::y);
  if (one.sample_weight.defined()) {
    std::vector<Tensor> weights;
    for (const Example& each : group.elements) weights.push_back(each.sample_weight);
    require_one_kind(what, weights, group.numbers);
    require_equal_sizes(what, weights, group.numbers, 0);
    example.sample_weight = stack(weights);
  }
  return example;
}

void require_equal_sizes(const char* what, const std::vector<Tensor>& rows, const std::vector<int64_t>& numbers, int axis) {
  for (size_t i = 1; i < rows.size(); ++i) {
    if (are_equal_from(rows[i], rows[0], axis)) continue;
    throw_unlike(what, rows, numbers, i, axis == 0 ? "equal shapes" : "shapes that differ in their first axis only");
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
  if (full == real) return stack(rows);
  const Tensor filler = cast(Tensor(value), rows[0].dtype());
  bool is_plain = rank > 0 && std::ranges::all_of(rows, [&](const Tensor& row) { return are_equal_from(row, rows[0], 1); });  // two ops
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
