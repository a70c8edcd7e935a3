// Losses that layers add to the step in which they are called (add_loss).
#pragma once
#include <anyshape/tensor.h>

#include <vector>

namespace anyshape::nn {

// Collects what layers add on this thread while it lives; outside of any, added losses go nowhere.
class StepLosses {
 public:
  StepLosses();
  ~StepLosses();
  StepLosses(const StepLosses&) = delete;
  StepLosses& operator=(const StepLosses&) = delete;
  std::vector<Tensor> losses;

 private:
  StepLosses* outer_;
};

void add_step_loss(const Tensor& loss);

}  // namespace anyshape::nn
