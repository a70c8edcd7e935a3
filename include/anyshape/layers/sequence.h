// Layers over time: recurrent ones, attention, pooling, masks. Rows may be ragged everywhere.
#pragma once
#include <anyshape/layer.h>

#include <functional>

#pragma GCC visibility push(default)
namespace anyshape {

/// Options of SimpleRNN. By default it gives the last output alone.
struct RecurrentOptions {
  ActivationFunction activation = "tanh";
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  double dropout = 0;            ///< of a row's features, the same ones at every step
  double recurrent_dropout = 0;  ///< of what a row's state gives to the recurrent product
  bool return_sequences = false;
  bool return_state = false;          ///< outputs() gives the final states behind the output
  bool go_backwards = false;          ///< from each row's last step; a sequence comes in that order, too
  bool zero_output_for_mask = false;  ///< in a sequence: masked steps are 0 instead of the output before them
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Options of LSTM. With unit_forget_bias the forget gate's bias starts at 1, whatever the initializer says.
struct LstmOptions {
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "sigmoid";
  bool use_bias = true;
  bool unit_forget_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  double dropout = 0;            ///< of a row's features, the same ones at every step
  double recurrent_dropout = 0;  ///< of what a row's state gives to the recurrent product
  bool return_sequences = false;
  bool return_state = false;          ///< outputs() gives the final states behind the output
  bool go_backwards = false;          ///< from each row's last step; a sequence comes in that order, too
  bool zero_output_for_mask = false;  ///< in a sequence: masked steps are 0 instead of the output before them
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Options of GRU. With reset_after the reset gate comes after the recurrent product, otherwise before it.
struct GruOptions {
  ActivationFunction activation = "tanh";
  ActivationFunction recurrent_activation = "sigmoid";
  bool use_bias = true;
  bool reset_after = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer recurrent_initializer = "orthogonal";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer recurrent_regularizer = {};
  Regularizer bias_regularizer = {};
  double dropout = 0;            ///< of a row's features, the same ones at every step
  double recurrent_dropout = 0;  ///< of what a row's state gives to the recurrent product
  bool return_sequences = false;
  bool return_state = false;          ///< outputs() gives the final states behind the output
  bool go_backwards = false;          ///< from each row's last step; a sequence comes in that order, too
  bool zero_output_for_mask = false;  ///< in a sequence: masked steps are 0 instead of the output before them
  std::string name = {};
  std::optional<Dtype> dtype = {};
};

/// The results of a recurrent layer, apart.
struct Recurrence {
  Tensor output;               ///< the last output, or all of them with return_sequences
  std::vector<Tensor> states;  ///< after each row's last real step
};

/// A handle on a recurrent layer. Its input is [batch, time, features], ragged rows included: no step is made for what is not there. A masked step
/// keeps the states and repeats the output before it. A row without any real step gives its first state.
class RecurrentLayer : public AnyLayer {
 public:
  /// Starts from given states [batch, size], zeros where there are none, and gives the final ones, too: outputs() with return_state.
  Recurrence run(const Tensor& input, const std::vector<Tensor>& initial_states = {}, LayerCallOptions options = {}) const;

 protected:
  using AnyLayer::AnyLayer;
};
/// The plain recurrence: h' = activation(x @ kernel + h @ recurrent_kernel + bias).
class SimpleRNN : public RecurrentLayer {
 public:
  explicit SimpleRNN(int64_t units, RecurrentOptions options = {});
};
/// Long short-term memory: states h, c; gates in the order input, forget, candidate, output.
class LSTM : public RecurrentLayer {
 public:
  explicit LSTM(int64_t units, LstmOptions options = {});
};
/// Gated recurrence: gates in the order update, reset, candidate; bias [2, 3 * units] with reset_after.
class GRU : public RecurrentLayer {
 public:
  explicit GRU(int64_t units, GruOptions options = {});
};

/// A step of a recurrent layer: the user's own derive from Cell. build() gets the shape of one step's input, [rows, features].
class Cell : public Layer {
 public:
  using Layer::Layer;
  virtual std::vector<int64_t> state_sizes() const = 0;                  ///< of the states of one row, in order: at least one
  virtual int64_t output_size() const { return state_sizes().front(); }  ///< of one row's output
  /// The next output [rows, output size] and states from one step's input [rows, features] and the states [rows, size]. It is run once for all
  /// steps: rows is a symbol, and what does not depend on the states is computed for all steps at once.
  virtual std::pair<Tensor, std::vector<Tensor>> step(const Tensor& input, const std::vector<Tensor>& states,
                                                      const CallContext& context) = 0;
};
/// Options of RNN. By default it gives the last output alone.
struct RnnOptions {
  bool return_sequences = false;
  bool return_state = false;  ///< outputs() gives the final states behind the output
  bool go_backwards = false;
  bool zero_output_for_mask = false;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// The recurrence of a user's cell.
class RNN : public RecurrentLayer {
 public:
  /// A cell of the user's, which becomes the layer's.
  template <class OwnCell>
    requires std::derived_from<OwnCell, Cell>
  explicit RNN(OwnCell cell, RnnOptions options = {}) : RNN(anyshape::layer(std::move(cell)), options) {}
  explicit RNN(const AnyLayer& cell, RnnOptions options = {});  ///< ArgumentError where it is no Cell
};

/// How two outputs become one: put together along the last axis, or element by element.
enum class Merge { Concat, Sum, Multiply, Average };
/// How the outputs of both directions become one.
struct BidirectionalOptions {
  Merge merge = Merge::Concat;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// The layer, and a copy of it with weights of its own that runs the other way. States are those of the layer, then those of the copy.
class Bidirectional : public RecurrentLayer {
 public:
  explicit Bidirectional(const RecurrentLayer& layer, BidirectionalOptions options = {});
};
/// A name, by default after the class, and a dtype, by default default_dtype().
struct SequenceOptions {
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// The same layer at every step.
class TimeDistributed : public AnyLayer {
 public:
  template <class Inner>
  explicit TimeDistributed(Inner inner, SequenceOptions options = {})
      : TimeDistributed(AnyLayer(anyshape::layer(std::move(inner))), options) {}
  TimeDistributed(AnyLayer inner, SequenceOptions options);
};

/// Dropout is of the scores, in training. The initializers hold for query, key, value and output.
struct MultiHeadAttentionOptions {
  int64_t value_dim = 0;  ///< 0: key_dim
  double dropout = 0;
  bool use_bias = true;
  int64_t output_size = 0;  ///< 0: the query's last size
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Options of one call of MultiHeadAttention.
struct AttentionOptions {
  Tensor attention_mask = {};    ///< b8[batch, query time, key time]
  bool use_causal_mask = false;  ///< the last step of the query meets every key, the one before it all but the last, and so on
  std::optional<bool> training = {};
  bool return_attention_scores = false;  ///< outputs() gives [batch, heads, query time, key time] behind the output
};

/// The keys and values of the steps so far, of one attention layer: what decoding keeps from call to call. Functions take it and give it; its
/// time is a symbol like any size, so that one trace serves every length, none included.
struct AttentionCache {
  Tensor keys, values;                            ///< [batch, time, heads, key_dim] and [batch, time, heads, value_dim]
  Dim length() const { return keys.shape()[1]; }  ///< steps so far; of ragged rows row_lengths(keys) has each row's
};
/// How the rows of a cache grow.
struct EmptyCacheOptions {
  bool ragged = false;  ///< rows grow each by steps of its own: ragged ones
};
/// Options of one step of decoding.
struct CachedAttentionOptions {
  Tensor attention_mask = {};  ///< b8[batch, new steps, all steps], of the padded view where rows are ragged
  std::optional<bool> training = {};
};
/// What one step of decoding gives.
struct CachedAttention {
  Tensor output;         ///< of the new steps
  AttentionCache cache;  ///< with the new steps at its end
};
/// Attention with several heads: each meets keys and values in projections of its own, and what all give is projected back.
class MultiHeadAttention : public AnyLayer {
 public:
  MultiHeadAttention(int64_t heads, int64_t key_dim, MultiHeadAttentionOptions options = {});
  Tensor operator()(const Tensor& query, const Tensor& value, AttentionOptions options = {}) const;  ///< keys are the values
  /// With keys beside the values, as many time steps of them.
  Tensor operator()(const Tensor& query, const Tensor& value, const Tensor& key, AttentionOptions options = {}) const;
  using AnyLayer::operator();                                                                      ///< one input: self-attention
  Outputs outputs(const Tensor& query, const Tensor& value, AttentionOptions options = {}) const;  ///< and scores if asked for
  /// With keys beside the values, as many time steps of them.
  Outputs outputs(const Tensor& query, const Tensor& value, const Tensor& key, AttentionOptions options = {}) const;
  /// One input: self-attention.
  ///@{
  using AnyLayer::outputs;
  ///@}

  /// Self-attention of new steps [batch, time, features] behind those of a cache: each meets all steps before it, old and new, and itself. A
  /// sequence in pieces of any lengths gives what it gives as a whole with use_causal_mask.
  CachedAttention run(const Tensor& steps, const AttentionCache& cache, CachedAttentionOptions options = {}) const;
  AttentionCache empty_cache(const Dim& batch, EmptyCacheOptions options = {}) const;  ///< of no steps; the layer need not be built
};

/// The mean over time, of real steps only.
class GlobalAveragePooling1D : public AnyLayer {
 public:
  explicit GlobalAveragePooling1D(SequenceOptions options = {});
};
/// The greatest over time, of real steps only.
class GlobalMaxPooling1D : public AnyLayer {
 public:
  explicit GlobalMaxPooling1D(SequenceOptions options = {});
};
/// The value that all features of a masked step have.
struct MaskingOptions {
  double mask_value = 0;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// Hides steps: one all of whose features are mask_value is masked.
class Masking : public AnyLayer {
 public:
  explicit Masking(MaskingOptions options = {});
};

}  // namespace anyshape
#pragma GCC visibility pop
