// Layers over time: recurrent ones, attention, pooling, masks. Rows may be ragged everywhere.
#pragma once
#include <anyshape/layer.h>

#include <functional>

#pragma GCC visibility push(default)
namespace anyshape {

struct RecurrentOptions {
  ActivationFunction activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
struct LstmOptions {
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "sigmoid";
  bool use_bias = true;
  bool unit_forget_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
struct GruOptions {
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "sigmoid";
  bool use_bias = true;
  bool reset_after = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  double dropout = 0;
  double recurrent_dropout = 0;
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};

// What a recurrent layer gives beside its output, and takes to start from.
struct Recurrence {
  Tensor output;               // the last output, or all of them with return_sequences
  std::vector<Tensor> states;  // after each row's last real step
};

// A step of a recurrent layer: the user's own derive from Cell.
class Cell : public Layer {
 public:
  using Layer::Layer;
  virtual std::vector<int64_t> state_sizes() const = 0;
  // The next output and states from one step's input [rows, features] and the states [rows, size].
  virtual std::pair<Tensor, std::vector<Tensor>> step(const Tensor& input, const std::vector<Tensor>& states,
                                                      const CallContext& context) = 0;
};

class RecurrentLayer : public AnyLayer {
 public:
  // Starts from given states and gives the final ones, too.
  Recurrence run(const Tensor& input, const std::vector<Tensor>& initial_states = {}, LayerCallOptions options = {}) const;

 protected:
  using AnyLayer::AnyLayer;
};
class SimpleRNN : public RecurrentLayer {
 public:
  explicit SimpleRNN(int64_t units, RecurrentOptions options = {});
};
class LSTM : public RecurrentLayer {
 public:
  explicit LSTM(int64_t units, LstmOptions options = {});
};
class GRU : public RecurrentLayer {
 public:
  explicit GRU(int64_t units, GruOptions options = {});
};
struct RnnOptions {
  bool return_sequences = false;
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class RNN : public RecurrentLayer {  // over a user's cell
 public:
  template <class OwnCell>
    requires std::derived_from<OwnCell, Cell>
  explicit RNN(OwnCell cell, RnnOptions options = {}) : RNN(std::shared_ptr<Cell>(std::make_shared<OwnCell>(std::move(cell))), options) {}
  RNN(std::shared_ptr<Cell> cell, RnnOptions options);
};

enum class Merge { Concat, Sum, Multiply, Average };
struct BidirectionalOptions {
  Merge merge = Merge::Concat;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class Bidirectional : public AnyLayer {  // the layer, and a copy of it with weights of its own that runs from the end
 public:
  explicit Bidirectional(RecurrentLayer layer, BidirectionalOptions options = {});
};
struct SequenceOptions {
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class TimeDistributed : public AnyLayer {  // the same layer at every step
 public:
  template <class Inner>
  explicit TimeDistributed(Inner inner, SequenceOptions options = {})
      : TimeDistributed(AnyLayer(anyshape::layer(std::move(inner))), options) {}
  TimeDistributed(AnyLayer inner, SequenceOptions options);
};

struct MultiHeadAttentionOptions {
  int64_t value_dim = 0;  // 0: key_dim
  double dropout = 0;
  bool use_bias = true;
  int64_t output_size = 0;  // 0: the query's last size
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
struct AttentionOptions {
  Tensor attention_mask = {};  // b8[batch, query time, key time]
  bool use_causal_mask = false;
  std::optional<bool> training = {};
};
class MultiHeadAttention : public AnyLayer {
 public:
  MultiHeadAttention(int64_t heads, int64_t key_dim, MultiHeadAttentionOptions options = {});
  Tensor operator()(const Tensor& query, const Tensor& value, AttentionOptions options = {}) const;  // keys are the values
  Tensor operator()(const Tensor& query, const Tensor& value, const Tensor& key, AttentionOptions options = {}) const;
  using AnyLayer::operator();  // one input: self-attention
};

class GlobalAveragePooling1D : public AnyLayer {  // over time, real steps only
 public:
  explicit GlobalAveragePooling1D(SequenceOptions options = {});
};
class GlobalMaxPooling1D : public AnyLayer {
 public:
  explicit GlobalMaxPooling1D(SequenceOptions options = {});
};
struct MaskingOptions {
  double mask_value = 0;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class Masking : public AnyLayer {  // a step all of whose features are mask_value is masked
 public:
  explicit Masking(MaskingOptions options = {});
};

}  // namespace anyshape
#pragma GCC visibility pop
