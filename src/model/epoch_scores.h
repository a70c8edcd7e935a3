// Running means of an epoch: the loss weighted by rows, and the metrics' own sums.
#pragma once
#include <anyshape/history.h>
#include <anyshape/model.h>

namespace anyshape::model {

class EpochScores {
 public:
  explicit EpochScores(const CompileOptions& options);  // metrics begin anew
  void add(double loss, int64_t rows);
  Scores so_far() const;

 private:
  const CompileOptions& options_;
  double total_ = 0;
  int64_t rows_ = 0;
};

}  // namespace anyshape::model
