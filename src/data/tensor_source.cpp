// Rows of tensors as elements, or several at once as a batch.
#include "data/dataset_impl.h"
#include "data/joined.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <array>

namespace anyshape::data {
namespace {

struct Rows {
  Data x, y, weight;
  int64_t count = 0;
  bool has_several_shapes = false;
};

Data mapped(const Data& data, const auto& change) {
  std::vector<Data::Field> fields;
  for (const Data::Field& field : data.fields())
    fields.push_back({field.name, change(field), field.tensor.defined() && field.tensor.is_ragged()});
  return Data(std::move(fields));
}

Example mapped(const Rows& rows, const auto& change) {
  return {.x = mapped(rows.x, change), .y = mapped(rows.y, change), .sample_weight = mapped(rows.weight, change)};
}

bool has_rows_of_several_shapes(const Data& data) {
  return std::ranges::any_of(data.fields(), [](const Data::Field& field) { return !field.rows.empty(); });
}

// Rows in the order given, or without one from the first to the last.
class RowsCursor final : public DatasetCursor {
 public:
  RowsCursor(std::shared_ptr<const Rows> rows, const std::vector<int64_t>& order) : rows_(std::move(rows)), count_(rows_->count) {
    if (order.empty()) return;
    count_ = static_cast<int64_t>(order.size());
    order_ = tensor(order, {count_});
    numbers_ = order;
  }

  std::optional<Example> next() override {
    if (next_ >= count_) return std::nullopt;
    const int64_t number = next_++, index = numbers_.empty() ? number : numbers_[static_cast<size_t>(number)];
    return mapped(*rows_, [&](const Data::Field& field) {
      return field.rows.empty() ? row_of(field.tensor, index) : field.rows[static_cast<size_t>(index)];
    });
  }

  std::optional<int64_t> number() const override {
    const auto last = static_cast<size_t>(next_ - 1);
    return numbers_.empty() ? next_ - 1 : numbers_[last];
  }

  bool gives_batches() const override { return !rows_->has_several_shapes; }
  std::optional<Example> next_batch(int64_t size) override {
    if (next_ >= count_) return std::nullopt;
    const int64_t begin = next_, end = begin + std::min(size, count_ - begin);
    next_ = end;
    const auto part = [&](const Tensor& tensor) { return slice(tensor, {{.begin = begin, .end = end}}); };
    if (!order_.defined()) return mapped(*rows_, [&](const Data::Field& field) { return part(field.tensor); });
    return mapped(*rows_, [chosen = part(order_)](const Data::Field& field) { return take(field.tensor, chosen); });
  }

 private:
  std::shared_ptr<const Rows> rows_;
  Tensor order_;
  std::vector<int64_t> numbers_;
  int64_t count_;
  int64_t next_ = 0;
};

class FromTensors final : public DatasetImpl {
 public:
  explicit FromTensors(Rows rows) : rows_(std::make_shared<const Rows>(std::move(rows))) {}
  std::unique_ptr<DatasetCursor> open(int64_t) const override { return std::make_unique<RowsCursor>(rows_, std::vector<int64_t>()); }
  int64_t row_count() const override { return rows_->count; }
  std::unique_ptr<DatasetCursor> open_in_order(const std::vector<int64_t>& order) const override {
    return std::make_unique<RowsCursor>(rows_, order);
  }
  std::optional<int64_t> size() const override { return rows_->count; }

 private:
  std::shared_ptr<const Rows> rows_;
};

}  // namespace

Dataset from_tensors(const Data& x, const Data& y, const Data& sample_weight) {
  if (!x.defined()) throw DataError("Dataset: no inputs are given; expected a tensor, rows or inputs().");
  auto count = [](const Data::Field& field) {
    if (!field.rows.empty()) return static_cast<int64_t>(field.rows.size());
    if (field.tensor.rank() == 0) throw ShapeError("Dataset: a scalar is given; expected rows along the first axis.");
    return field.tensor.shape()[0].value();
  };
  const int64_t rows = count(x.fields().front());
  auto require = [&](const Data::Field& field, const char* name) {
    if (count(field) == rows) return;
    throw DataError(fmt::format("Dataset: the inputs have {} rows, the {} {}; expected as many.", rows, name, count(field)));
  };
  for (const Data::Field& field : x.fields()) require(field, "further inputs");
  for (const Data::Field& field : y.fields()) require(field, "targets");
  for (const Data::Field& field : sample_weight.fields()) require(field, "sample weights");
  const bool has_several_shapes =
      std::ranges::any_of(std::array{&x, &y, &sample_weight}, [](const Data* each) { return has_rows_of_several_shapes(*each); });
  return Dataset(std::make_shared<FromTensors>(Rows{x, y, sample_weight, rows, has_several_shapes}));
}

}  // namespace anyshape::data
