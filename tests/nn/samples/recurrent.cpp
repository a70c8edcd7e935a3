// Samples of recurrent layers and of layers around them.
#include "nn/recurrent_layers.h"

#include "nn/check_layer.h"

namespace anyshape::test {
namespace {

LayerSample last_output(const std::string& kind) {
  return {.layer = kind, .make = [kind] { return make_recurrent(kind); }, .inputs = steps_of(2), .mask = MaskFate::Drops};
}

LayerSample all_outputs(const std::string& kind) {
  return {.layer = kind,
          .label = "sequences",
          .make = [kind] { return make_recurrent(kind, {.return_sequences = true, .zero_output_for_mask = true}); },
          .inputs = steps_of(2)};
}

LayerSample labelled(LayerSample sample, const std::string& layer, const std::string& label) {
  sample.layer = layer;
  sample.label = label;
  return sample;
}

// The states to start from are inputs, too.
LayerSample with_states() {
  return {.layer = "LSTM",
          .label = "states",
          .make = [] { return make_recurrent("LSTM"); },
          .inputs =
              [](int64_t rows, int64_t, int seed) {
                return std::vector{numbers({rows, 3, 2}, seed), numbers({rows, 3}, seed + 1), numbers({rows, 3}, seed + 2)};
              },
          .over_time = false};
}

[[maybe_unused]] const bool registered = register_layer_samples({
    last_output("SimpleRNN"),
    all_outputs("SimpleRNN"),
    last_output("LSTM"),
    all_outputs("LSTM"),
    with_states(),
    last_output("GRU"),
    all_outputs("GRU"),
    labelled(last_output("GRU_reset_before"), "GRU", "reset_before"),
    last_output("RNN"),
    all_outputs("RNN"),
    last_output("Bidirectional"),
    all_outputs("Bidirectional"),
    {.layer = "TimeDistributed",
     .make = [] { return TimeDistributed(Dense(3, {.activation = "tanh", .dtype = f64})); },
     .inputs = steps_of(2)},
    {.layer = "TimeDistributed",
     .label = "rows_in_steps",
     .make = [] { return TimeDistributed(GRU(2, {.dtype = f64})); },
     .inputs = [](int64_t rows, int64_t time, int seed) { return std::vector{numbers({rows, time, 3, 2}, seed)}; }},
});

}  // namespace
}  // namespace anyshape::test
