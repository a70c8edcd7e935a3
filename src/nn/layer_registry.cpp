// Layers by name.
#include "config/lasting_registry.h"
#include "nn/layer_arguments.h"
#include "nn/network_config.h"

#include <anyshape/layers/core.h>
#include <anyshape/layers/normalization.h>
#include <anyshape/layers/sequence.h>

namespace anyshape {
namespace {

using namespace nn;

template <class Handle, class Options>
AnyLayer of_options(Options options) {
  return Handle(std::move(options));
}
template <class Handle, class Options>
AnyLayer of_units(UnitsArguments arguments, Options options) {
  return Handle(arguments.units, std::move(options));
}

class AnyRecurrent : public RecurrentLayer {  // Bidirectional refuses what is none
 public:
  explicit AnyRecurrent(const AnyLayer& layer) : RecurrentLayer(layer.layer()) {}
};

void add_core(Registry& registry) {
  registry.add(registered("Activation", +[](ActivationArguments a, LayerOptions o) -> AnyLayer { return Activation(a.activation, o); }));
  registry.add(registered("Add", of_options<Add, LayerOptions>));
  registry.add(registered("Concatenate", of_options<Concatenate, ConcatenateOptions>));
  registry.add(registered("Dense", of_units<Dense, DenseOptions>));
  registry.add(registered("Dropout", +[](DropoutArguments a, DropoutOptions o) -> AnyLayer { return Dropout(a.rate, o); }));
  registry.add(registered(
      "Embedding",
      +[](EmbeddingArguments a, EmbeddingOptions o) -> AnyLayer { return Embedding(a.input_dim, a.output_dim, std::move(o)); }));
  registry.add(registered("Flatten", of_options<Flatten, LayerOptions>));
  registry.add(registered("Lambda", +[](LambdaArguments a, LayerOptions o) -> AnyLayer { return Lambda(a.function, o); }));
  registry.add(registered("Multiply", of_options<Multiply, LayerOptions>));
  registry.add(registered(
      "Rescaling", +[](RescalingArguments a, RescalingOptions o) -> AnyLayer {
        return Rescaling(a.scale, o.offset, {.name = o.name, .dtype = o.dtype});
      }));
  registry.add(registered("Reshape", +[](ReshapeArguments a, LayerOptions o) -> AnyLayer { return Reshape(a.target_shape, o); }));
}

void add_normalization(Registry& registry) {
  registry.add(registered("BatchNormalization", of_options<BatchNormalization, BatchNormalizationOptions>));
  registry.add(registered("FillMissing", of_options<FillMissing, FillMissingOptions>));
  registry.add(registered("LayerNormalization", of_options<LayerNormalization, LayerNormalizationOptions>));
  registry.add(registered("Normalization", of_options<Normalization, NormalizationOptions>));
}

void add_sequence(Registry& registry) {
  registry.add(registered(
      "Bidirectional", +[](WrapperArguments a, BidirectionalOptions o) -> AnyLayer { return Bidirectional(AnyRecurrent(a.layer), o); }));
  registry.add(registered("GlobalAveragePooling1D", of_options<GlobalAveragePooling1D, SequenceOptions>));
  registry.add(registered("GlobalMaxPooling1D", of_options<GlobalMaxPooling1D, SequenceOptions>));
  registry.add(registered("GRU", of_units<GRU, GruOptions>));
  registry.add(registered("LSTM", of_units<LSTM, LstmOptions>));
  registry.add(registered("Masking", of_options<Masking, MaskingOptions>));
  registry.add(registered(
      "MultiHeadAttention", +[](AttentionArguments a, MultiHeadAttentionOptions o) -> AnyLayer {
        return MultiHeadAttention(a.num_heads, a.key_dim, std::move(o));
      }));
  registry.add(registered("RNN", +[](CellArguments a, RnnOptions o) -> AnyLayer { return RNN(a.cell, o); }));
  registry.add(registered("SimpleRNN", of_units<SimpleRNN, RecurrentOptions>));
  registry.add(
      registered("TimeDistributed", +[](WrapperArguments a, SequenceOptions o) -> AnyLayer { return TimeDistributed(a.layer, o); }));
}

}  // namespace

template <>
Registry& registry_of<AnyLayer>() {
  return lasting_registry([] {
    auto* const made = new Registry("layer");
    add_core(*made);
    add_normalization(*made);
    add_sequence(*made);
    made->add(nn::sequential_entry());
    made->add(nn::functional_entry());
    return made;
  });
}

}  // namespace anyshape
