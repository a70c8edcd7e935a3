// The training flag of this thread.
#include "nn/training_mode.h"

namespace anyshape::nn {
namespace {

thread_local bool training_now = false;

}  // namespace

ScopedTraining::ScopedTraining(bool training) : outer_(training_now) { training_now = training; }
ScopedTraining::~ScopedTraining() { training_now = outer_; }

bool is_training() { return training_now; }

}  // namespace anyshape::nn
