// A ring of kernels whose labels ascend. Where there is none left between two, all get new ones.
#include "lower/kernel_order.h"

namespace anyshape::lower {

KernelOrder::KernelOrder(size_t count) : next_(count + 1), previous_(count + 1), labels_(count + 1) {
  for (size_t i = 0; i <= count; ++i) {
    next_[i] = i == count ? 0 : i + 1;
    previous_[i] = i == 0 ? count : i - 1;
  }
  number_anew();
}

void KernelOrder::remove(size_t kernel) {
  next_[previous_[kernel]] = next_[kernel];
  previous_[next_[kernel]] = previous_[kernel];
}

void KernelOrder::move_behind(size_t kernel, size_t other) {
  remove(kernel);
  const size_t after = next_[other];
  next_[other] = previous_[after] = kernel;
  next_[kernel] = after;
  previous_[kernel] = other;
  labels_[kernel] = labels_[other] + (labels_[after] - labels_[other]) / 2;
  if (labels_[kernel] == labels_[other]) number_anew();
}

std::vector<size_t> KernelOrder::in_order() const {
  const size_t end = next_.size() - 1;
  std::vector<size_t> order;
  for (size_t i = next_[end]; i != end; i = next_[i]) order.push_back(i);
  return order;
}

void KernelOrder::number_anew() {
  const size_t end = next_.size() - 1;
  uint64_t label = 0;
  for (size_t i = next_[end]; i != end; i = next_[i]) labels_[i] = label += gap;
  labels_[end] = label + gap;
}

}  // namespace anyshape::lower
