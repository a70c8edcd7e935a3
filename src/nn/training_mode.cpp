// The training flag of this thread.
#include "nn/training_mode.h"

#include "base/thread_context.h"

#include <utility>

namespace anyshape::nn {

ScopedTraining::ScopedTraining(bool training) : outer_(std::exchange(this_thread.is_training, training)) {}
ScopedTraining::~ScopedTraining() { this_thread.is_training = outer_; }

bool is_training() { return this_thread.is_training; }

}  // namespace anyshape::nn
