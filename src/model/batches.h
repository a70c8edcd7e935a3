// Where batches come from: rows of tensors, in order or shuffled, or a dataset.
#pragma once
#include <anyshape/dataset.h>
#include <anyshape/model.h>

#include <memory>
#include <optional>

namespace anyshape::model {

class Batches {
 public:
  virtual ~Batches() = default;
  virtual void restart(int64_t epoch) = 0;
  virtual std::optional<Batch> next() = 0;
  virtual std::optional<int64_t> steps() const = 0;  // of one epoch, where known
  virtual int64_t rows_before() const = 0;           // rows given in this epoch: the number of the next one
};

struct ArrayOptions {
  int64_t batch_size = 32;
  bool shuffle = false;
  std::optional<int64_t> seed = {};
};
// DataError for inputs and targets of different counts, and for no rows at all; `what` is who asks: "fit".
std::unique_ptr<Batches> array_batches(const char* what, const Data& x, const Data& y, const Tensor& sample_weight, ArrayOptions options);
std::unique_ptr<Batches> dataset_batches(const Dataset& data);

int64_t row_count(const Tensor& tensor);
Tensor rows_between(const Tensor& tensor, int64_t begin, int64_t end);
Data rows_between(const Data& data, int64_t begin, int64_t end);

}  // namespace anyshape::model
