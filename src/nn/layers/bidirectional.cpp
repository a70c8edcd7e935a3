// Bidirectional: a recurrent layer and its copy that runs from the other end; sequences of both stand in the input's order.
#include "nn/layers/recurrent.h"
#include "nn/make_layer.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

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
    LayerState& state = layer.layer()->state();
    const std::string name = state.name.empty() ? nn::snake_case(layer.type()) : state.name;
    nn::share_dtype(*this, layer, options.dtype);
    const AnyLayer backward = layer.clone();
    state.name = "forward_" + name;
    backward.layer()->state().name = "backward_" + name;
    stepped(backward).walk.go_backwards = !stepped(layer).walk.go_backwards;
    for (const AnyLayer& each : {AnyLayer(layer), backward}) {
      nn::Walk& walk = stepped(each).walk;
      walk.in_time_order = true;
      walk.zero_output_for_mask = walk.return_sequences;
    }
    forward_ = child(AnyLayer(layer));
    backward_ = child(backward);
  }

  void build(const Shape& input) override {
    forward_.build(input);
    backward_.build(input);
  }

  Recurrence run(std::span<const Tensor> inputs, const CallContext&) override {
    const std::vector<Tensor> states(inputs.begin() + 1, inputs.end());
    if (states.size() % 2 != 0) {
      throw ArgumentError(
          fmt::format("Bidirectional: got {} initial states; expected as many for each direction, the forward ones first.", states.size()));
    }
    const auto half = states.begin() + static_cast<std::ptrdiff_t>(states.size() / 2);
    Recurrence found = run_one(forward_, inputs[0], {states.begin(), half});
    const Recurrence other = run_one(backward_, inputs[0], {half, states.end()});
    found.output = merged(found.output, other.output);
    found.states.insert(found.states.end(), other.states.begin(), other.states.end());
    return found;
  }

  Tensor mask(std::span<const Tensor> inputs, std::span<const Tensor> masks) const override {
    return stepped(forward_).mask(inputs, masks);
  }

 private:
  // The handle's run(), which is what makes a call of it: names, dtype, weights.
  struct Runnable : RecurrentLayer {
    explicit Runnable(const AnyLayer& layer) : RecurrentLayer(layer.layer()) {}
  };
  static Recurrence run_one(const AnyLayer& layer, const Tensor& x, const std::vector<Tensor>& states) {
    return Runnable(layer).run(x, states);
  }

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
    : RecurrentLayer(nn::make_layer<BidirectionalLayer>(options, layer).layer()) {}

}  // namespace anyshape
