// Whether the call in progress on this thread is a training one: layers called inside a layer's call ask here.
#pragma once

namespace anyshape::nn {

class ScopedTraining {
 public:
  explicit ScopedTraining(bool training);
  ~ScopedTraining();
  ScopedTraining(const ScopedTraining&) = delete;
  ScopedTraining& operator=(const ScopedTraining&) = delete;

 private:
  bool outer_;
};

bool is_training();

}  // namespace anyshape::nn
