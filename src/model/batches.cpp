// Batches of tensors: slices where the order is the given one, gathered rows where it is shuffled.
#include "model/batches.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::model {
namespace {

std::vector<Tensor> tensors_of(const Data& data) {
  std::vector<Tensor> tensors;
  for (const Data::Field& field : data.fields()) tensors.push_back(field.tensor);
  return tensors;
}

class ArrayBatches final : public Batches {
 public:
  ArrayBatches(const Data& x, const Data& y, const Tensor& sample_weight, ArrayOptions options)
      : x_(tensors_of(x)), y_(tensors_of(y)), sample_weight_(sample_weight), options_(options), rows_(row_count(x_.front())) {}

  void restart(int64_t epoch) override {
    begin_ = 0;
    if (!options_.shuffle) return;
    if (!options_.seed) {
      order_ = random::permutation(rows_);
      return;
    }
    const random::SeedScope scope(static_cast<uint64_t>(*options_.seed) * 0x9e3779b97f4a7c15U + static_cast<uint64_t>(epoch));
    order_ = random::permutation(rows_);
  }

  std::optional<Batch> next() override {
    if (begin_ >= rows_) return std::nullopt;
    const int64_t end = std::min(begin_ + options_.batch_size, rows_);
    const Tensor chosen = options_.shuffle ? rows_between(order_, begin_, end) : Tensor();
    auto pick = [&](const Tensor& tensor) { return options_.shuffle ? take(tensor, chosen) : rows_between(tensor, begin_, end); };
    Batch batch;
    for (const Tensor& tensor : x_) batch.x.push_back(pick(tensor));
    for (const Tensor& tensor : y_) batch.y.push_back(pick(tensor));
    if (sample_weight_.defined()) batch.sample_weight = pick(sample_weight_);
    begin_ = end;
    return batch;
  }

  std::optional<int64_t> steps() const override { return (rows_ + options_.batch_size - 1) / options_.batch_size; }
  int64_t rows_before() const override { return begin_; }

 private:
  std::vector<Tensor> x_, y_;
  Tensor sample_weight_;
  ArrayOptions options_;
  int64_t rows_;
  int64_t begin_ = 0;
  Tensor order_;
};

class DatasetBatches final : public Batches {
 public:
  explicit DatasetBatches(const Dataset& data) : data_(data) {
    if (!data.is_batched()) throw ArgumentError("fit: the dataset gives single elements; expected batches. Call batch(size) on it.");
  }

  void restart(int64_t) override {
    rows_ = 0;
    place_.emplace(data_.begin());
  }

  std::optional<Batch> next() override {
    if (!(*place_ != data_.end())) return std::nullopt;
    const Example& example = **place_;
    Batch batch{.x = tensors_of(example.x), .y = tensors_of(example.y)};
    if (example.sample_weight.defined()) batch.sample_weight = example.sample_weight;
    rows_ += row_count(batch.x.front());
    ++*place_;
    return batch;
  }

  std::optional<int64_t> steps() const override { return data_.size(); }
  int64_t rows_before() const override { return rows_; }

 private:
  Dataset data_;
  std::optional<Dataset::Iterator> place_;
  int64_t rows_ = 0;
};

}  // namespace

int64_t row_count(const Tensor& tensor) {
  if (tensor.rank() == 0) throw ShapeError("data: a scalar is given; expected rows along the first axis.");
  return tensor.shape()[0].value();
}

Tensor rows_between(const Tensor& tensor, int64_t begin, int64_t end) { return slice(tensor, {{.begin = begin, .end = end}}); }

Data rows_between(const Data& data, int64_t begin, int64_t end) {
  std::vector<Data::Field> fields;
  for (const Data::Field& field : data.fields()) fields.push_back({field.name, rows_between(field.tensor, begin, end)});
  return Data(std::move(fields));
}

std::unique_ptr<Batches> array_batches(const char* what, const Data& x, const Data& y, const Tensor& sample_weight, ArrayOptions options) {
  if (!x.defined()) throw DataError(fmt::format("{}: no inputs are given; expected a tensor, rows or inputs().", what));
  if (options.batch_size < 1) throw ArgumentError(fmt::format("{}: batch_size is {}; expected at least 1.", what, options.batch_size));
  const int64_t rows = row_count(x.fields().front().tensor);
  auto require = [&](const Tensor& tensor, const char* name) {
    if (row_count(tensor) == rows) return;
    throw DataError(fmt::format("{}: the inputs have {} rows, the {} {}; expected as many.", what, rows, name, row_count(tensor)));
  };
  for (const Data::Field& field : x.fields()) require(field.tensor, "further inputs");
  for (const Data::Field& field : y.fields()) require(field.tensor, "targets");
  if (sample_weight.defined()) require(sample_weight, "sample weights");
  if (rows == 0) throw DataError(fmt::format("{}: the inputs have no rows; expected at least one.", what));
  return std::make_unique<ArrayBatches>(x, y, sample_weight, options);
}

std::unique_ptr<Batches> dataset_batches(const Dataset& data) { return std::make_unique<DatasetBatches>(data); }

}  // namespace anyshape::model
