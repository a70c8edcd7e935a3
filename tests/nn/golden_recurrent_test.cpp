// The golden cases of recurrent layers and what is built around them.
#include "nn/golden_layer.h"

namespace anyshape::test {
namespace {

template <class Options>
Options recurrent_options(const Json& config) {
  Options options;
  options.use_bias = flag_or(config, "use_bias", true);
  options.activation = activation_or(config, "activation", "tanh");
  options.return_sequences = flag_or(config, "return_sequences", false);
  options.go_backwards = flag_or(config, "go_backwards", false);
  options.zero_output_for_mask = flag_or(config, "zero_output_for_mask", false);
  return options;
}

int64_t units(const Json& config) { return static_cast<int64_t>(config["units"].number()); }

SimpleRNN make_simple_rnn(const Json& config) { return SimpleRNN(units(config), recurrent_options<RecurrentOptions>(config)); }

LSTM make_lstm(const Json& config) {
  LstmOptions options = recurrent_options<LstmOptions>(config);
  options.recurrent_activation = activation_or(config, "recurrent_activation", "sigmoid");
  return LSTM(units(config), options);
}

GRU make_gru(const Json& config) {
  GruOptions options = recurrent_options<GruOptions>(config);
  options.recurrent_activation = activation_or(config, "recurrent_activation", "sigmoid");
  options.reset_after = flag_or(config, "reset_after", true);
  return GRU(units(config), options);
}

AnyLayer make_bidirectional(const Json& config) {
  const Json &inner = config["layer"], *merge = config.find("merge_mode");
  const BidirectionalOptions options{.merge = merge != nullptr && merge->string() == "sum" ? Merge::Sum : Merge::Concat};
  if (inner["class"].string() == "GRU") return Bidirectional(make_gru(inner["config"]), options);
  return Bidirectional(make_lstm(inner["config"]), options);
}

AnyLayer make_time_distributed(const Json& config) {
  const Json& inner = config["layer"]["config"];
  return TimeDistributed(Dense(units(inner), {.activation = activation_or(inner, "activation", {})}));
}

// The output, then the states: the cases without return_state have no tensors to compare them with.
std::vector<Tensor> call_with_states(const AnyLayer& layer, const GoldenCall& call) {
  std::vector<Tensor> inputs{call.masked_x()}, states = call.inputs_of("initial_state");
  inputs.insert(inputs.end(), states.begin(), states.end());
  return layer.outputs(inputs, {.return_state = true}).tensors();
}

// A row without a real step gives its initial state here and 0 in Keras, so what comes of that output differs, too.
const std::vector<std::pair<std::string, std::string>> empty_rows = {
    {"lstm_mask_empty_row_initial_state", "out/0"},
    {"lstm_mask_empty_row_initial_state", "grad/h0"},
    {"gru_mask_empty_row_initial_state", "out/0"},
    {"gru_mask_empty_row_initial_state", "grad/h0"},
};

[[maybe_unused]] const bool registered = register_golden_layers({
    {"SimpleRNN", {.make = make_simple_rnn, .call = call_with_states}},
    {"LSTM", {.make = make_lstm, .call = call_with_states, .decided_otherwise = empty_rows}},
    {"GRU", {.make = make_gru, .call = call_with_states, .decided_otherwise = empty_rows}},
    {"Bidirectional", {.make = make_bidirectional, .call = call_with_states}},
    {"TimeDistributed", {.make = make_time_distributed}},
});

}  // namespace
}  // namespace anyshape::test
