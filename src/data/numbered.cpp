// Counting.
#include "data/numbered.h"

#include "tensor/view.h"

namespace anyshape::data {
namespace {

class NumberedCursor final : public DatasetCursor {
 public:
  explicit NumberedCursor(std::unique_ptr<DatasetCursor> before) : before_(std::move(before)) {}
  std::optional<Example> next() override {
    std::optional<Example> element = before_->next();
    if (element) element->sample_weight = make_scalar(Dtype::i64, given_++);
    return element;
  }

 private:
  std::unique_ptr<DatasetCursor> before_;
  int64_t given_ = 0;
};

class Numbered final : public DatasetImpl {
 public:
  explicit Numbered(Source before) : before_(std::move(before)) {}
  std::unique_ptr<DatasetCursor> open(int64_t pass) const override { return std::make_unique<NumberedCursor>(before_->open(pass)); }
  std::optional<int64_t> size() const override { return before_->size(); }
  bool is_batched() const override { return before_->is_batched(); }
  bool is_endless() const override { return before_->is_endless(); }
  const DatasetImpl* before() const override { return before_.get(); }

 private:
  Source before_;
};

}  // namespace

Dataset numbered(Source source) { return Dataset(std::make_shared<Numbered>(std::move(source))); }

}  // namespace anyshape::data
