// The collector of this thread.
#include "nn/step_losses.h"

#include "base/thread_context.h"

#include <utility>

namespace anyshape::nn {

StepLosses::StepLosses() : outer_(std::exchange(this_thread.step_losses, this)) {}
StepLosses::~StepLosses() { this_thread.step_losses = outer_; }

void add_step_loss(const Tensor& loss) {
  if (this_thread.step_losses != nullptr) this_thread.step_losses->losses.push_back(loss);
}

}  // namespace anyshape::nn
