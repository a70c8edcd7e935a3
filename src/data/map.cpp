// Elements changed one by one. Rows of a source stay together: they can be given in another order, and are changed when they are asked for.
#include "data/dataset_impl.h"

#include <algorithm>

namespace anyshape::data {
namespace {

// Rows stay rows when a map changes what is in them. That it makes all of one length (a histogram, say) cannot be known before the last
// one: then .batch(n, {.ragged = false}) says so.
void keep_rows(const Data& before, Data& after) {
  if (std::ranges::none_of(before.fields(), &Data::Field::is_row)) return;
  std::vector<Data::Field> fields = after.fields();
  for (size_t i = 0; i < std::min(fields.size(), before.fields().size()); ++i) {
    if (before.fields()[i].is_row && fields[i].tensor.defined() && fields[i].tensor.rank() > 0) fields[i].is_row = true;
  }
  after = Data(std::move(fields));
}

class MapCursor final : public DatasetCursor {
 public:
  MapCursor(std::unique_ptr<DatasetCursor> before, const std::function<Example(const Example&)>& callable)
      : before_(std::move(before)), callable_(callable) {}

  std::optional<Example> next() override {
    const std::optional<Example> element = is_over_ ? std::nullopt : before_->next();
    is_over_ = !element;
    if (!element) return std::nullopt;
    Example result = with_number("Dataset::map", before_->number().value_or(given_), [&] { return callable_(*element); });
    ++given_;
    keep_rows(element->x, result.x);
    keep_rows(element->y, result.y);
    return result;
  }
  std::optional<int64_t> number() const override { return before_->number(); }
  PaddingCount padding() const override { return before_->padding(); }

 private:
  std::unique_ptr<DatasetCursor> before_;
  std::function<Example(const Example&)> callable_;
  int64_t given_ = 0;
  bool is_over_ = false;
};

class Mapped final : public DatasetImpl {
 public:
  Mapped(Source before, std::function<Example(const Example&)> callable) : before_(std::move(before)), callable_(std::move(callable)) {}

  std::unique_ptr<DatasetCursor> open(int64_t pass) const override { return std::make_unique<MapCursor>(before_->open(pass), callable_); }
  std::unique_ptr<DatasetCursor> open_in_order(const std::vector<int64_t>& order) const override {
    return std::make_unique<MapCursor>(before_->open_in_order(order), callable_);
  }
  int64_t row_count() const override { return before_->row_count(); }
  std::optional<int64_t> row_total() const override { return before_->row_total(); }
  std::optional<int64_t> size() const override { return before_->size(); }
  bool is_batched() const override { return before_->is_batched(); }
  bool is_endless() const override { return before_->is_endless(); }
  const DatasetImpl* before() const override { return before_.get(); }

 private:
  Source before_;
  std::function<Example(const Example&)> callable_;
};

}  // namespace

Dataset mapped(Source source, std::function<Example(const Example&)> callable) {
  return Dataset(std::make_shared<Mapped>(std::move(source), std::move(callable)));
}

}  // namespace anyshape::data
