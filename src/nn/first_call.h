// The first call of a layer: it makes the weights, once, whichever thread comes first, and leaves none where it fails.
#pragma once
#include "nn/layer_state.h"

#include <vector>

namespace anyshape::nn {

// Builds a layer unless it is built by now, but none inside it: those are built when they are called. One thread builds it.
void make_weights(Layer& layer, std::vector<TensorSpec> inputs);

// A call that fails leaves a layer and those inside it as they were: without weights where it made them, unless another thread has called
// them meanwhile.
class FirstCall {
 public:
  explicit FirstCall(LayerState& state);
  void undo() noexcept;

 private:
  void collect_unbuilt(LayerState& state);
  std::vector<LayerState*> unbuilt_;
};

}  // namespace anyshape::nn
