// How golden cases make layers of the configurations they have, and how they call those that take more than x.
#include "nn/golden_layer.h"
#include "nn/notes.h"

namespace anyshape::test {
namespace {

BatchNormalizationOptions batch_normalization_options(const Json& config) {
  return {.momentum = number_or(config, "momentum", 0.99),
          .epsilon = number_or(config, "epsilon", 1e-3),
          .center = flag_or(config, "center", true),
          .scale = flag_or(config, "scale", true)};
}

LayerNormalizationOptions layer_normalization_options(const Json& config) {
  LayerNormalizationOptions options{
      .epsilon = number_or(config, "epsilon", 1e-3), .center = flag_or(config, "center", true), .scale = flag_or(config, "scale", true)};
  if (const Json* const axes = config.find("axis")) {
    const std::vector<int64_t> given = axes->integers();
    options.axes.assign(given.begin(), given.end());
  }
  return options;
}

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

AnyLayer make_attention(const Json& config) {
  return MultiHeadAttention(config["num_heads"].integer(), config["key_dim"].integer(),
                            {.value_dim = static_cast<int64_t>(number_or(config, "value_dim", 0)),
                             .use_bias = flag_or(config, "use_bias", true),
                             .output_size = static_cast<int64_t>(number_or(config, "output_shape", 0))});
}

// Masks of query and value are carried by the tensors.
std::vector<Tensor> call_attention(const AnyLayer& layer, const GoldenCall& call) {
  const auto masked = [&](const char* argument, const char* mask) {
    const Tensor x = call.inputs_of(argument)[0];
    const std::vector<Tensor> given = call.inputs_of(mask);
    return given.empty() ? x : nn::with_mask(x, given[0]);
  };
  std::vector<Tensor> inputs = {masked("query", "query_mask"), masked("value", "value_mask")};
  const std::vector<Tensor> key = call.inputs_of("key"), mask = call.inputs_of("attention_mask");
  if (!key.empty()) inputs.push_back(key[0]);
  if (!mask.empty()) {
    if (key.empty()) inputs.push_back(inputs[1]);
    inputs.push_back(mask[0]);
  }
  // Keras hands on the mask that a query carries, not one that is given beside it.
  return {nn::with_mask(layer(inputs, {.use_causal_mask = call.flag("use_causal_mask")}), {})};
}

[[maybe_unused]] const bool registered = register_golden_layers({
    {"Dense", {.make = [](const Json& config) -> AnyLayer {
       return Dense(config["units"].integer(),
                    {.activation = activation_or(config, "activation", {}), .use_bias = flag_or(config, "use_bias", true)});
     }}},
    {"Embedding", {.make = [](const Json& config) -> AnyLayer {
       return Embedding(config["input_dim"].integer(), config["output_dim"].integer(), {.mask_zero = flag_or(config, "mask_zero", false)});
     }}},
    {"Dropout", {.make = [](const Json& config) -> AnyLayer { return Dropout(config["rate"].number()); }}},
    {"Flatten", {.make = [](const Json&) -> AnyLayer { return Flatten(); }}},
    {"Masking", {.make = [](const Json& config) -> AnyLayer { return Masking({.mask_value = config["mask_value"].number()}); }}},
    {"BatchNormalization",
     {.make = [](const Json& config) -> AnyLayer { return BatchNormalization(batch_normalization_options(config)); }}},
    {"LayerNormalization",
     {.make = [](const Json& config) -> AnyLayer { return LayerNormalization(layer_normalization_options(config)); }}},
    {"GlobalAveragePooling1D", {.make = [](const Json&) -> AnyLayer { return GlobalAveragePooling1D(); }}},
    {"GlobalMaxPooling1D", {.make = [](const Json&) -> AnyLayer { return GlobalMaxPooling1D(); }}},
    {"SimpleRNN", {.make = make_simple_rnn, .call = call_with_states}},
    {"LSTM", {.make = make_lstm, .call = call_with_states, .decided_otherwise = empty_rows}},
    {"GRU", {.make = make_gru, .call = call_with_states, .decided_otherwise = empty_rows}},
    {"Bidirectional", {.make = make_bidirectional, .call = call_with_states}},
    {"TimeDistributed", {.make = make_time_distributed}},
    {"MultiHeadAttention", {.make = make_attention, .call = call_attention}},
});

}  // namespace
}  // namespace anyshape::test
