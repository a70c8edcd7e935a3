// Running means of an epoch: the loss in its parts, each by its own weight, the metrics' own sums, and by rows what a step of the user's own
// gives.
#pragma once
#include "model/compiled.h"
#include "model/loss_parts.h"

#include <anyshape/history.h>

#include <string>
#include <utility>
#include <vector>

namespace anyshape::model {

class EpochScores {
 public:
  explicit EpochScores(const Compiled& compiled);                                    // metrics begin anew
  void add(double loss, int64_t rows, const std::optional<PartValues>& parts = {});  // no parts: all of the loss weighs by rows
  Scores so_far() const;

  struct Sum {
    double total = 0, weight = 0;
    void add(double value, double times);
    double mean() const { return weight == 0 ? 0 : total / weight; }
  };
  struct NamedSum {
    std::string name;
    Sum sum = {};
  };
  struct Sums {
    Sum whole = {};  // of batches without parts
    std::vector<Sum> outputs = {};
    std::vector<NamedSum> own = {};  // of the user's own step
    Sum added = {};
    double rows_in_parts = 0;
  };
  const Sums& sums() const { return sums_; }  // beside those that metrics have
  void set_sums(Sums sums) { sums_ = std::move(sums); }

 private:
  const Compiled& compiled_;
  Sums sums_;
};

}  // namespace anyshape::model
