// Inputs and targets made ready for a step: by the model's names, in its losses' dtypes, with weights of rows; what is wrong is told in the user's rows.
#pragma once
#include "model/batches.h"
#include "model/row_names.h"

#include <string>
#include <vector>

namespace anyshape::model {

class Preparation {
 public:
  explicit Preparation(const Purpose& purpose);

  std::vector<Tensor> inputs(const Data& x) const;
  Batch prepared(const Data& x, const Data& y, const Data& sample_weight, const RowNames& rows) const;

 private:
  const Purpose& purpose_;
  std::vector<std::string> inputs_, outputs_;
};

}  // namespace anyshape::model
