// Bidirectional: a recurrent layer and its copy that runs from the other end; sequences of both stand in the input's order.
#include "nn/layers/recurrent.h"
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

void name_layer(const AnyLayer& layer, const std::string& name) {
  LayerState& state = layer.layer()->state();
  state.name = name;
  state.is_named = true;
}

nn::SteppedLayer& stepped(const AnyLayer& layer) { return static_cast<nn::SteppedLayer&>(*layer.layer()); }

class BidirectionalLayer final : public nn::Recurrent {
 public:
  BidirectionalLayer(const RecurrentLayer& layer, const BidirectionalOptions& options) : Recurrent("Bidirectional"), merge_(options.merge) {
    if (!layer.defined() || dynamic_cast<const nn::SteppedLayer*>(layer.layer().get()) == nullptr) {
      throw ArgumentError(
          fmt::format("Bidirectional: the layer is {}; expected SimpleRNN, LSTM, GRU or RNN.", layer.defined() ? layer.type() : "none"));
    }
    if (layer.is_built()) {
      throw ArgumentError(
          fmt::format("Bidirectional: layer \"{}\" is built already; expected one without weights, so that each direction makes its own.",
                      layer.name()));
    }
    const std::string name = layer.name();
    nn::share_dtype(*this, layer, options.dtype);
    const AnyLayer backward = layer.clone();
    name_layer(layer, "forward_" + name);
    name_layer(backward, "backward_" + name);
    stepped(backward).walk.go_backwards = !stepped(layer).walk.go_backwards;
    for (const AnyLayer& each : {AnyLayer(layer), backward}) {
      nn::Walk& walk = stepped(each).walk;
      walk.in_time_order = true;
      walk.zero_output_for_mask = walk.return_sequences;
    }
    forward_ = child(AnyLayer(layer));
    backward_ = child(backward);
  }

  Tensor mask(std::span<const Tensor> inputs, std::span<const Tensor> masks) const override {
    return stepped(forward_).mask(inputs, masks);
  }

 protected:
  bool returns_state() const override { return stepped(forward_).walk.return_state; }
  size_t state_count() const override { return 2 * stepped(forward_).state_count(); }

  Recurrence run(std::span<const Tensor> inputs, const CallContext&) override {
    const std::vector<Tensor> states(inputs.begin() + 1, inputs.end());
    if (states.size() % 2 != 0) {
      throw ArgumentError(
          fmt::format("Bidirectional: got {} initial states; expected as many for each direction, the forward ones first.", states.size()));
    }
    const auto half = states.begin() + static_cast<std::ptrdiff_t>(states.size() / 2);
    std::vector<Tensor> of_forward{inputs[0]}, of_backward = of_forward;
    of_forward.insert(of_forward.end(), states.begin(), half);
    of_backward.insert(of_backward.end(), half, states.end());
    const LayerCallOptions with_states{.return_state = true};
    const std::vector<Tensor> forward = forward_.outputs(of_forward, with_states).tensors();
    const std::vector<Tensor> backward = backward_.outputs(of_backward, with_states).tensors();
    Recurrence found{.output = merged(forward[0], backward[0]), .states = {forward.begin() + 1, forward.end()}};
    found.states.insert(found.states.end(), backward.begin() + 1, backward.end());
    return found;
  }

 private:
  Tensor merged(const Tensor& a, const Tensor& b) const {
    switch (merge_) {
      case Merge::Concat: return concat({a, b}, {.axis = -1});
      case Merge::Sum: return a + b;
      case Merge::Multiply: return a * b;
      case Merge::Average: return (a + b) * 0.5;
    }
    throw InternalError("Bidirectional: unknown merge");
  }

  Merge merge_;
  AnyLayer forward_, backward_;
};

}  // namespace

Bidirectional::Bidirectional(const RecurrentLayer& layer, BidirectionalOptions options)
    : RecurrentLayer(nn::make_wrapper<BidirectionalLayer>(options, layer, "layer").layer()) {}

}  // namespace anyshape
