// A metric of a user's own, for tests: the weighted mean of p - y.
#pragma once
#include <anyshape/anyshape.h>

namespace anyshape::test {

class MeanError : public StreamingMetric {
 public:
  MeanError() : StreamingMetric("mean_error") {}
  void update(const Tensor& target, const Tensor& prediction, const Tensor& sample_weight) override {
    const auto [y, p, weight] = weighed(target, prediction, sample_weight);
    add(total_, sum((p - y) * weight));
    add(count_, sum(weight));
  }
  Tensor result() const override { return ratio(total_, count_); }

 private:
  Variable total_ = running_sum("total"), count_ = running_sum("count");
};

}  // namespace anyshape::test
