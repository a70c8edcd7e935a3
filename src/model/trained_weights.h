// Whether a step trains at all: found while it is traced, from what the tape knows, so that a call which hits pays nothing.
#pragma once
#include "base/fork_mutex.h"

#include <anyshape/gradient.h>
#include <anyshape/layer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace anyshape::model {

using NamedWeights = std::vector<std::pair<std::string, Variable>>;

// What one step function has warned about: a second trace says nothing new. With the paths of the weights it speaks of, as a step that runs
// op by op looks at them every time.
class Warned {
 public:
  bool is_new(const std::string& text);
  std::shared_ptr<const NamedWeights> weights_of(const AnyLayer& network);

 private:
  ForkMutex mutex_;
  std::string last_;
  std::shared_ptr<const NamedWeights> weights_;  // of the network and version that follow
  uint64_t network_ = 0, version_ = 0;
};

// ArgumentError where no weight of the network has a gradient; a warning where some have none, or where variables are read that look like
// weights and are not the network's. An undefined gradient is one that the loss does not reach.
void require_trained(const AnyLayer& network, const std::vector<Variable>& variables, const std::vector<Tensor>& gradients,
                     const std::vector<WatchedVariable>& read, Warned& warned);

// For a step of the user's own, whose gradients are its business: a warning where the network has nothing to train.
void warn_of_no_weights(const AnyLayer& network, Warned& warned);

}  // namespace anyshape::model
