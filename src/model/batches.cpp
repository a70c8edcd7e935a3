// Batches of tensors: slices where the order is the given one, gathered rows where it is shuffled. What holds for all rows is done once.
#include "model/batches.h"

#include "data/dataset_impl.h"
#include "data/numbered.h"
#include "model/grouped_batches.h"
#include "model/model_state.h"
#include "model/preparation.h"
#include "model/shape_groups.h"
#include "model/target_values.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::model {
namespace {

Tensor rows_of(const Tensor& tensor, int64_t begin, int64_t end) { return slice(tensor, {{.begin = begin, .end = end}}); }

class ArrayBatches final : public Batches {
 public:
  ArrayBatches(const Purpose& purpose, Batch all, ArrayOptions options)
      : compiled_(purpose.compiled),
        names_{.what = purpose.what, .first = purpose.first_row},
        all_(std::move(all)),
        options_(options),
        rows_(row_count(all_.x.front())) {
    options_.batch_size = std::clamp<int64_t>(options_.batch_size, 1, std::max<int64_t>(rows_, 1));  // so that sums with it do not overflow
  }

  std::vector<Tensor> sample() override {
    std::vector<Tensor> rows;
    for (const Tensor& tensor : all_.x) rows.push_back(rows_of(tensor, 0, 1));
    return rows;
  }

  void restart() override {
    opened_ = function_detail::random_position();
    begin_ = 0;
    is_begun_ = false;
    if (options_.shuffle) order_ = random::permutation(rows_);
  }

  std::optional<Batch> next() override {
    if (begin_ >= rows_ && std::exchange(is_begun_, true)) return std::nullopt;  // no rows are one batch of none
    is_begun_ = true;
    const int64_t end = std::min(begin_ + options_.batch_size, rows_);
    const Tensor chosen = options_.shuffle ? rows_of(order_, begin_, end) : Tensor();
    auto pick = [&](const Tensor& tensor) { return options_.shuffle ? take(tensor, chosen) : rows_of(tensor, begin_, end); };
    Batch batch;
    for (const Tensor& tensor : all_.x) batch.x.push_back(pick(tensor));
    for (const Tensor& tensor : all_.y) batch.y.push_back(pick(tensor));
    for (const Tensor& tensor : all_.sample_weight) batch.sample_weight.push_back(pick(tensor));
    begin_ = end;
    return batch;
  }

  bool skip() override {
    if (begin_ >= rows_) return next().has_value();
    is_begun_ = true;
    begin_ = std::min(begin_ + options_.batch_size, rows_);
    return true;
  }

  Extent extent() const override { return {.count = std::max<int64_t>(1, (rows_ + options_.batch_size - 1) / options_.batch_size)}; }

  void hold_to(const Model& model) override {
    if (compiled_ == nullptr || !needs_output_facts(*compiled_, all_.y)) return;
    require_targets_fit(names_, *compiled_, output_facts(model, sample(), compiled_->run_eagerly), all_.x, all_.y);
  }

 private:
  const Compiled* compiled_;
  RowNames names_;
  Batch all_;
  ArrayOptions options_;
  int64_t rows_;
  int64_t begin_ = 0;
  bool is_begun_ = false;
  Tensor order_;
};

class DatasetBatches final : public Batches {
 public:
  DatasetBatches(const Purpose& purpose, const Dataset& data, bool is_numbered)
      : purpose_(purpose), preparation_(purpose_), data_(data), is_numbered_(is_numbered) {
    if (!data.is_batched()) {
      throw ArgumentError(fmt::format("{}: the dataset gives single elements; expected batches. Call batch(size) on it.", purpose.what));
    }
    if (data.is_endless()) {
      throw ArgumentError(fmt::format("{}: the dataset has no end; expected one that ends. Call take(count) on it.", purpose.what));
    }
  }

  std::vector<Tensor> sample() override {
    restart();
    is_fresh_ = true;
    if (*iterator_ != data_.end()) return preparation_.inputs((*iterator_)->x);
    throw DataError(fmt::format("{}: the dataset is empty; expected at least one batch.", purpose_.what));
  }

  void restart() override {
    if (std::exchange(is_fresh_, false)) return;  // the pass that gave the sample begins with it
    opened_ = function_detail::random_position();
    iterator_.emplace(data_.begin());
    elements_ = 0;
    is_begun_ = false;
  }

  std::optional<Batch> next() override {
    if (std::exchange(is_begun_, true)) ++*iterator_;  // not before it is asked for: a dataset may be endless, or slow
    if (!(*iterator_ != data_.end())) return std::nullopt;
    const Example& example = **iterator_;
    require_equal_rows(purpose_.what, example.x, example.y, example.sample_weight);
    if (purpose_.compiled != nullptr) require_rows(purpose_.what, example.x);
    if (is_numbered_) numbers_ = example.sample_weight.single().to_vector<int64_t>();
    Batch batch = preparation_.prepared(example.x, example.y, example.sample_weight, names());
    if (model_) hold(batch);
    elements_ += row_count(batch.x.front());
    return batch;
  }

  std::vector<int64_t> row_numbers() const override { return numbers_; }

  Place place() const override { return {.opened = opened_, .passes = data_.passes(), .is_fresh = is_fresh_}; }
  void go_to(const Place& place) override {
    is_fresh_ = false;
    if (place.is_fresh) {
      reopen(place);
      is_fresh_ = true;
    } else {
      data_.passes() = place.passes;
    }
  }
  void reopen(const Place& place) override {
    is_fresh_ = false;
    data_.passes() = place.passes - 1;
    function_detail::set_random_position(place.opened);
    restart();
  }

  // In steps where their number is known.
  Extent extent() const override {
    if (data_.size()) return {.count = data_.size()};
    const std::optional<int64_t> rows = data_.impl()->row_total();
    const bool are_images = data_.impl()->folder() != nullptr;
    if (!rows && !are_images) return {};
    return {.count = rows, .unit = are_images ? "image" : "row", .is_of_rows = true};
  }

  void hold_to(const Model& model) override {
    if (purpose_.compiled != nullptr) model_ = model;
  }

 private:
  RowNames names() const { return {.what = purpose_.what, .first = elements_, .is_dataset = true}; }

  // The first batch tells whether there is anything to look at.
  void hold(const Batch& batch) {
    if (!facts_) {
      const bool is_needed = needs_output_facts(*purpose_.compiled, batch.y);
      facts_ = is_needed ? output_facts(*model_, batch.x, purpose_.compiled->run_eagerly) : std::vector<OutputFacts>();
    }
    require_targets_fit(names(), *purpose_.compiled, *facts_, batch.x, batch.y);
  }

  std::optional<Model> model_;
  std::optional<std::vector<OutputFacts>> facts_;
  Purpose purpose_;
  Preparation preparation_;
  Dataset data_;
  std::optional<Dataset::Iterator> iterator_;
  bool is_numbered_;
  std::vector<int64_t> numbers_;  // of the rows of the last batch, where order matters
  bool is_fresh_ = false, is_begun_ = false;
  int64_t elements_ = 0;
};

int64_t rows_in(const Data::Field& field) { return field.rows.empty() ? row_count(field.tensor) : static_cast<int64_t>(field.rows.size()); }

void require_batch_size(const Purpose& purpose, int64_t size) {
  if (size < 1) throw ArgumentError(fmt::format("{}: batch_size is {}; expected at least 1.", purpose.what, size));
}

}  // namespace

int64_t row_count(const Tensor& tensor) {
  if (tensor.rank() == 0) throw ShapeError("data: a scalar is given; expected rows along the first axis.");
  return tensor.shape()[0].value();
}

int64_t row_count(const char* what, const Data& x) {
  if (!x.defined()) throw DataError(fmt::format("{}: no inputs are given; expected a tensor, rows or inputs().", what));
  return rows_in(x.fields().front());
}

void require_equal_rows(const char* what, const Data& x, const Data& y, const Data& sample_weight) {
  const int64_t rows = row_count(what, x);
  auto require = [&](const Data::Field& field, const char* name) {
    if (rows_in(field) == rows) return;
    throw DataError(fmt::format("{}: the inputs have {} rows, the {} {}; expected as many.", what, rows, name, rows_in(field)));
  };
  for (const Data::Field& field : x.fields()) require(field, "further inputs");
  for (const Data::Field& field : y.fields()) require(field, "targets");
  for (const Data::Field& field : sample_weight.fields()) require(field, "sample weights");
}

void require_rows(const char* what, const Data& x) {
  if (row_count(what, x) == 0) throw DataError(fmt::format("{}: the inputs have no rows; expected at least one.", what));
}

Data rows_between(const Data& data, int64_t begin, int64_t end) {
  std::vector<Data::Field> fields;
  for (const Data::Field& field : data.fields()) {
    if (field.rows.empty()) {
      fields.push_back({field.name, rows_of(field.tensor, begin, end)});
    } else {
      fields.push_back({.name = field.name, .rows = {field.rows.begin() + begin, field.rows.begin() + end}});
    }
  }
  return Data(std::move(fields));
}

std::unique_ptr<Batches> array_batches(const Purpose& purpose, const Data& x, const Data& y, const Data& sample_weight,
                                       ArrayOptions options) {
  require_batch_size(purpose, options.batch_size);
  require_equal_rows(purpose.what, x, y, sample_weight);
  if (has_rows_of_several_shapes(x) || has_rows_of_several_shapes(y) || has_rows_of_several_shapes(sample_weight)) {
    return grouped_batches(purpose, x, y, sample_weight, options);
  }
  if (purpose.compiled != nullptr) require_rows(purpose.what, x);  // a prediction of none is none, a loss of none no number
  const RowNames names{.what = purpose.what, .first = purpose.first_row};
  return std::make_unique<ArrayBatches>(purpose, Preparation(purpose).prepared(x, y, sample_weight, names), options);
}

std::unique_ptr<Batches> dataset_batches(const Purpose& purpose, const Dataset& data, DatasetOptions options) {
  if (data.is_batched() || data.impl()->folder() == nullptr) return std::make_unique<DatasetBatches>(purpose, data, false);
  require_batch_size(purpose, options.batch_size);
  const int64_t files = data.impl()->row_count();
  Dataset images = options.shuffle && files > 0 ? data.shuffle({.buffer = files}) : data;
  if (options.in_order) images = data::numbered(images.impl());
  return std::make_unique<DatasetBatches>(purpose, images.group_by_shape(options.batch_size).prefetch(1), options.in_order);
}

}  // namespace anyshape::model
