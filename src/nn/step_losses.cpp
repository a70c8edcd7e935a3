// The collector of this thread.
#include "nn/step_losses.h"

namespace anyshape::nn {
namespace {

thread_local StepLosses* collector = nullptr;

}  // namespace

StepLosses::StepLosses() : outer_(collector) { collector = this; }
StepLosses::~StepLosses() { collector = outer_; }

void add_step_loss(const Tensor& loss) {
  if (collector != nullptr) collector->losses.push_back(loss);
}

}  // namespace anyshape::nn
