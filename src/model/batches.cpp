// Batches of tensors: slices where the order is the given one, gathered rows where it is shuffled. What holds for all rows is done once.
#include "model/batches.h"

#include "model/class_weights.h"
#include "model/fields.h"
#include "model/missing_values.h"
#include "model/model_state.h"
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

// Inputs and targets by the model's names and in its losses' dtypes, with weights of rows.
class Preparation {
 public:
  explicit Preparation(const Purpose& purpose)
      : purpose_(purpose), inputs_(input_names(purpose.network)), outputs_(purpose.network.layer()->output_names()) {
    if (purpose.compiled != nullptr && !outputs_.empty()) outputs_ = purpose.compiled->outputs;
  }

  std::vector<Tensor> inputs(const Data& x) const {
    return model_inputs(purpose_.network, ordered_fields(purpose_.what, "input", x, inputs_));
  }

  Batch prepared(const Data& x, const Data& y, const Data& sample_weight, std::optional<int64_t> first_element) const {
    Batch batch{.x = inputs(x)};
    require_present(purpose_.network, purpose_.what, batch.x, first_element);
    if (purpose_.compiled == nullptr) return batch;
    if (!y.defined() && !purpose_.any_targets) {
      throw DataError(fmt::format("{}: no targets are given; expected a tensor, rows or inputs().", purpose_.what));
    }
    const std::vector<std::string> targets = purpose_.any_targets ? named_fields(purpose_.what, "target", y, outputs_) : outputs_;
    batch.y = ordered_fields(purpose_.what, "target", y, targets);
    const RowNames rows = row_names(first_element);
    require_target_values(rows, *purpose_.compiled, batch.y);
    for (const Data::Field& field : sample_weight.fields()) {
      require_numbers({.what = purpose_.what,
                       .name = field.name.empty() ? "the sample weights" : fmt::format("the sample weights \"{}\"", field.name),
                       .advice = "Weigh what is not to count by 0.",
                       .first_row = rows.first,
                       .is_dataset = rows.is_dataset},
                      field.tensor);
    }
    if (sample_weight.defined()) batch.sample_weight = ordered_weights(purpose_.what, sample_weight, targets);
    if (!purpose_.class_weight.empty()) {
      if (!batch.sample_weight.empty()) {
        throw ArgumentError(fmt::format("{}: class_weight and sample_weight are both given; expected one of them.", purpose_.what));
      }
      batch.sample_weight = {weights_of_classes(batch.y, purpose_.class_weight)};
    }
    for (size_t output = 0; output < batch.y.size(); ++output)
      batch.y[output] = cast_target(purpose_.network, *purpose_.compiled, output, batch.y[output]);
    return batch;
  }

  RowNames row_names(std::optional<int64_t> first_element) const {
    return {.what = purpose_.what, .first = first_element.value_or(purpose_.first_row), .is_dataset = first_element.has_value()};
  }

 private:
  const Purpose& purpose_;
  std::vector<std::string> inputs_, outputs_;
};

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

  std::optional<int64_t> steps() const override { return std::max<int64_t>(1, (rows_ + options_.batch_size - 1) / options_.batch_size); }

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
  DatasetBatches(const Purpose& purpose, const Dataset& data) : purpose_(purpose), preparation_(purpose_), data_(data) {
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
    Batch batch = preparation_.prepared(example.x, example.y, example.sample_weight, elements_);
    if (model_) hold(batch);
    elements_ += row_count(batch.x.front());
    return batch;
  }

  std::optional<int64_t> steps() const override { return data_.size(); }

  void hold_to(const Model& model) override {
    if (purpose_.compiled != nullptr) model_ = model;
  }

 private:
  // The first batch tells whether there is anything to look at.
  void hold(const Batch& batch) {
    if (!facts_) {
      const bool is_needed = needs_output_facts(*purpose_.compiled, batch.y);
      facts_ = is_needed ? output_facts(*model_, batch.x, purpose_.compiled->run_eagerly) : std::vector<OutputFacts>();
    }
    require_targets_fit(preparation_.row_names(elements_), *purpose_.compiled, *facts_, batch.x, batch.y);
  }

  std::optional<Model> model_;
  std::optional<std::vector<OutputFacts>> facts_;
  Purpose purpose_;
  Preparation preparation_;
  Dataset data_;
  std::optional<Dataset::Iterator> iterator_;
  bool is_fresh_ = false, is_begun_ = false;
  int64_t elements_ = 0;
};

}  // namespace

int64_t row_count(const Tensor& tensor) {
  if (tensor.rank() == 0) throw ShapeError("data: a scalar is given; expected rows along the first axis.");
  return tensor.shape()[0].value();
}

int64_t row_count(const char* what, const Data& x) {
  if (!x.defined()) throw DataError(fmt::format("{}: no inputs are given; expected a tensor, rows or inputs().", what));
  return row_count(x.fields().front().tensor);
}

void require_equal_rows(const char* what, const Data& x, const Data& y, const Data& sample_weight) {
  const int64_t rows = row_count(what, x);
  auto require = [&](const Tensor& tensor, const char* name) {
    if (row_count(tensor) == rows) return;
    throw DataError(fmt::format("{}: the inputs have {} rows, the {} {}; expected as many.", what, rows, name, row_count(tensor)));
  };
  for (const Data::Field& field : x.fields()) require(field.tensor, "further inputs");
  for (const Data::Field& field : y.fields()) require(field.tensor, "targets");
  for (const Data::Field& field : sample_weight.fields()) require(field.tensor, "sample weights");
}

void require_rows(const char* what, const Data& x) {
  if (row_count(what, x) == 0) throw DataError(fmt::format("{}: the inputs have no rows; expected at least one.", what));
}

Data rows_between(const Data& data, int64_t begin, int64_t end) {
  std::vector<Data::Field> fields;
  for (const Data::Field& field : data.fields()) fields.push_back({field.name, rows_of(field.tensor, begin, end)});
  return Data(std::move(fields));
}

std::unique_ptr<Batches> array_batches(const Purpose& purpose, const Data& x, const Data& y, const Data& sample_weight,
                                       ArrayOptions options) {
  if (options.batch_size < 1) {
    throw ArgumentError(fmt::format("{}: batch_size is {}; expected at least 1.", purpose.what, options.batch_size));
  }
  const Preparation preparation(purpose);
  require_equal_rows(purpose.what, x, y, sample_weight);
  if (purpose.compiled != nullptr) require_rows(purpose.what, x);  // a prediction of none is none, a loss of none no number
  return std::make_unique<ArrayBatches>(purpose, preparation.prepared(x, y, sample_weight, {}), options);
}

std::unique_ptr<Batches> dataset_batches(const Purpose& purpose, const Dataset& data) {
  return std::make_unique<DatasetBatches>(purpose, data);
}

}  // namespace anyshape::model
