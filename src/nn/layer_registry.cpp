// Layers by name.
#include "config/lasting_registry.h"
#include "nn/image_registry.h"
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
  registry.table().add(
      detail::registered("Activation", +[](ActivationArguments a, LayerOptions o) -> AnyLayer { return Activation(a.activation, o); }));
  registry.table().add(detail::registered("Add", of_options<Add, LayerOptions>));
  registry.table().add(detail::registered("Concatenate", of_options<Concatenate, ConcatenateOptions>));
  registry.table().add(detail::registered("Dense", of_units<Dense, DenseOptions>));
  registry.table().add(detail::registered("Dropout", +[](DropoutArguments a, DropoutOptions o) -> AnyLayer { return Dropout(a.rate, o); }));
  registry.table().add(detail::registered(
      "Embedding",
      +[](EmbeddingArguments a, EmbeddingOptions o) -> AnyLayer { return Embedding(a.input_dim, a.output_dim, std::move(o)); }));
  registry.table().add(detail::registered("Flatten", of_options<Flatten, LayerOptions>));
  registry.table().add(detail::registered("Lambda", +[](LambdaArguments a, LayerOptions o) -> AnyLayer { return Lambda(a.function, o); }));
  registry.table().add(detail::registered("Multiply", of_options<Multiply, LayerOptions>));
  registry.table().add(detail::registered(
      "Rescaling", +[](RescalingArguments a, RescalingOptions o) -> AnyLayer {
        return Rescaling(a.scale, o.offset, {.name = o.name, .dtype = o.dtype});
      }));
  registry.table().add(
      detail::registered("Reshape", +[](ReshapeArguments a, LayerOptions o) -> AnyLayer { return Reshape(a.target_shape, o); }));
}

void add_normalization(Registry& registry) {
  registry.table().add(detail::registered("BatchNormalization", of_options<BatchNormalization, BatchNormalizationOptions>));
  registry.table().add(detail::registered("FillMissing", of_options<FillMissing, FillMissingOptions>));
  registry.table().add(detail::registered("GroupNormalization", of_options<GroupNormalization, GroupNormalizationOptions>));
  registry.table().add(detail::registered("LayerNormalization", of_options<LayerNormalization, LayerNormalizationOptions>));
  registry.table().add(detail::registered("Normalization", of_options<Normalization, NormalizationOptions>));
}

void add_sequence(Registry& registry) {
  registry.table().add(detail::registered(
      "Bidirectional", +[](WrapperArguments a, BidirectionalOptions o) -> AnyLayer { return Bidirectional(AnyRecurrent(a.layer), o); }));
  registry.table().add(detail::registered("GlobalAveragePooling1D", of_options<GlobalAveragePooling1D, SequenceOptions>));
  registry.table().add(detail::registered("GlobalMaxPooling1D", of_options<GlobalMaxPooling1D, SequenceOptions>));
  registry.table().add(detail::registered("GRU", of_units<GRU, GruOptions>));
  registry.table().add(detail::registered("LSTM", of_units<LSTM, LstmOptions>));
  registry.table().add(detail::registered("Masking", of_options<Masking, MaskingOptions>));
  registry.table().add(detail::registered(
      "MultiHeadAttention", +[](AttentionArguments a, MultiHeadAttentionOptions o) -> AnyLayer {
        return MultiHeadAttention(a.num_heads, a.key_dim, std::move(o));
      }));
  registry.table().add(detail::registered("RNN", +[](CellArguments a, RnnOptions o) -> AnyLayer { return RNN(a.cell, o); }));
  registry.table().add(detail::registered("SimpleRNN", of_units<SimpleRNN, RecurrentOptions>));
  registry.table().add(detail::registered(
      "TimeDistributed", +[](WrapperArguments a, SequenceOptions o) -> AnyLayer { return TimeDistributed(a.layer, o); }));
}

}  // namespace

template <>
Registry& registry_of<AnyLayer>() {
  return lasting_registry([] {
    auto* const made = new Registry("layer");
    add_core(*made);
    add_normalization(*made);
    add_sequence(*made);
    nn::add_image_layers(*made);
    nn::add_random_layers(*made);
    made->table().add(nn::sequential_entry());
    made->table().add(nn::functional_entry());
    return made;
  });
}

}  // namespace anyshape
