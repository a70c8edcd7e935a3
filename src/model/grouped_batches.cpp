// The rule of Dataset::group_by_shape, with all rows at hand: where they are shuffled, batches that are not full need not come last.
#include "model/grouped_batches.h"

#include "model/preparation.h"
#include "model/shape_groups.h"
#include "model/target_values.h"

#include <anyshape/ops.h>
#include <anyshape/ragged.h>
#include <anyshape/random.h>

#include <algorithm>
#include <numeric>

namespace anyshape::model {
namespace {

class GroupedBatches final : public Batches {
 public:
  GroupedBatches(const Purpose& purpose, std::vector<ShapeGroup> groups, ArrayOptions options, bool are_images)
      : compiled_(purpose.compiled), what_(purpose.what), options_(options), are_images_(are_images) {
    const Preparation preparation(purpose);
    for (ShapeGroup& group : groups) {
      for (int64_t& row : group.rows) row += purpose.first_row;
      rows_ += static_cast<int64_t>(group.rows.size());
      Kind& kind = kinds_.emplace_back();
      kind.numbers = std::move(group.rows);
      kind.all = preparation.prepared(group.x, group.y, group.sample_weight, {.what = what_, .numbers = &kind.numbers});
      group = {};  // what is ready does not stay twice
    }
    for (size_t kind = 0; kind < kinds_.size(); ++kind) {
      for (size_t i = 0; i < kinds_[kind].numbers.size(); ++i) rows_in_order_.push_back({kind, static_cast<int64_t>(i)});
    }
    std::ranges::sort(rows_in_order_, {}, [this](const Row& row) { return number_of(row); });
  }

  std::vector<Tensor> sample() override {
    std::vector<Tensor> first;
    for (const Tensor& input : kinds_[0].all.x) first.push_back(slice(input, {{.begin = 0, .end = 1}}));
    return first;
  }

  void restart() override {
    opened_ = function_detail::random_position();
    planned_ = planned(options_.shuffle ? shuffled(rows_in_order_) : rows_in_order_);
    if (options_.shuffle) planned_ = shuffled(planned_);
    next_ = 0;
  }

  std::optional<Batch> next() override {
    if (next_ == planned_.size()) return std::nullopt;
    const Planned& plan = planned_[next_++];
    const Batch& all = kinds_[plan.kind].all;
    const Tensor chosen = tensor(plan.indices, {static_cast<int64_t>(plan.indices.size())});
    Batch batch;
    for (const Tensor& each : all.x) batch.x.push_back(take(each, chosen));
    for (const Tensor& each : all.y) batch.y.push_back(take(each, chosen));
    for (const Tensor& each : all.sample_weight) batch.sample_weight.push_back(take(each, chosen));
    return batch;
  }

  bool skip() override { return next_ < planned_.size() && ++next_ > 0; }

  std::vector<int64_t> row_numbers() const override {
    const Planned& plan = planned_[next_ - 1];
    std::vector<int64_t> numbers;
    for (const int64_t index : plan.indices) numbers.push_back(number_of({plan.kind, index}));
    return numbers;
  }

  Extent extent() const override { return {.count = rows_, .unit = are_images_ ? "image" : "row", .is_of_rows = true}; }

  void hold_to(const Model& model) override {
    if (compiled_ == nullptr || !needs_output_facts(*compiled_, kinds_[0].all.y)) return;
    const std::vector<OutputFacts> facts = output_facts(model, sample(), compiled_->run_eagerly);
    for (const Kind& kind : kinds_)
      require_targets_fit({.what = what_, .numbers = &kind.numbers}, *compiled_, facts, kind.all.x, kind.all.y);
  }

 private:
  // All rows of one shape, and their numbers in the user's data.
  struct Kind {
    Batch all;
    std::vector<int64_t> numbers;
  };
  struct Row {
    size_t kind;
    int64_t index;
  };
  struct Planned {
    size_t kind;
    std::vector<int64_t> indices;
  };

  int64_t number_of(const Row& row) const { return kinds_[row.kind].numbers[static_cast<size_t>(row.index)]; }

  template <class T>
  static std::vector<T> shuffled(const std::vector<T>& all) {
    std::vector<T> mixed;
    for (const int64_t index : cast(random::permutation(static_cast<int64_t>(all.size())), Dtype::i64).to_vector<int64_t>()) {
      mixed.push_back(all[static_cast<size_t>(index)]);
    }
    return mixed;
  }

  // A batch is there when it is full; at the end those that are not, in the order in which their shapes appeared.
  std::vector<Planned> planned(const std::vector<Row>& rows) const {
    std::vector<Planned> full;
    std::vector<std::vector<int64_t>> waiting(kinds_.size());
    std::vector<size_t> appeared;
    for (const Row& row : rows) {
      std::vector<int64_t>& own = waiting[row.kind];
      if (own.empty()) appeared.push_back(row.kind);
      own.push_back(row.index);
      if (static_cast<int64_t>(own.size()) < options_.batch_size) continue;
      full.push_back({row.kind, std::exchange(own, {})});
      std::erase(appeared, row.kind);
    }
    for (const size_t kind : appeared) full.push_back({kind, std::move(waiting[kind])});
    return full;
  }

  const Compiled* compiled_;
  const char* what_;
  ArrayOptions options_;
  bool are_images_;
  int64_t rows_ = 0;
  std::vector<Kind> kinds_;
  std::vector<Row> rows_in_order_;
  std::vector<Planned> planned_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Batches> grouped_batches(const Purpose& purpose, const Data& x, const Data& y, const Data& sample_weight,
                                         ArrayOptions options) {
  const bool have_images = are_images(x);
  return std::make_unique<GroupedBatches>(purpose, shape_groups(x, y, sample_weight), options, have_images);
}

}  // namespace anyshape::model
