// Layers: weights with a call. A layer is used through a handle (AnyLayer, Dense, ...); your own layer derives from Layer.
#pragma once
#include <anyshape/activation.h>
#include <anyshape/config.h>
#include <anyshape/initializer.h>
#include <anyshape/outputs.h>
#include <anyshape/regularizer.h>
#include <anyshape/spec.h>
#include <anyshape/stateful.h>
#include <anyshape/tensor.h>
#include <anyshape/variable.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// What a call knows beside its inputs.
struct CallContext {
  bool training = false;
  bool use_causal_mask = false;          ///< attention: a step meets itself and those before it
  bool return_state = false;             ///< recurrent layers: the final states behind the output
  bool return_attention_scores = false;  ///< attention: the scores behind the output
};

/// How a weight starts, whether it is trained, and its penalty.
struct WeightOptions {
  Initializer initializer = "glorot_uniform";
  Regularizer regularizer = {};
  bool trainable = true;
  std::optional<Dtype> dtype = {};  ///< none: the layer's
};

class Layer;
namespace detail {
struct LayerState;  ///< name, dtype, weights, children, built or not
}

/// Options of one call.
struct LayerCallOptions {
  std::optional<bool> training = {};     ///< none: as the call around it, else false
  bool use_causal_mask = false;          ///< of attention: a step meets itself and those before it
  bool return_state = false;             ///< of recurrent layers: outputs() gives the final states, too
  bool return_attention_scores = false;  ///< of attention: outputs() gives the scores [batch, heads, query time, key time], too
};

/// A handle on a layer: copies share it. Calling builds it first where it is not built yet.
class AnyLayer : public Stateful, public detail::ShownByConfig<AnyLayer> {
 public:
  AnyLayer();
  using Copy = std::shared_ptr<Layer> (*)(const Layer&);  ///< makes a layer of the same class; none: clone() is an error
  explicit AnyLayer(std::shared_ptr<Layer> layer, Copy copy = nullptr);
  AnyLayer(const AnyLayer& other);  ///< the same layer; its clone while a model around it is cloned
  AnyLayer(AnyLayer&&) noexcept = default;
  AnyLayer& operator=(const AnyLayer&) = default;
  AnyLayer& operator=(AnyLayer&&) noexcept = default;

  /// The one result of a layer; ArgumentError where it gives several.
  ///@{
  Tensor operator()(const Tensor& input) const { return call({&input, 1}, {}); }
  Tensor operator()(const Tensor& input, LayerCallOptions options) const { return call({&input, 1}, options); }
  Tensor operator()(std::initializer_list<Tensor> inputs, LayerCallOptions options = {}) const;
  Tensor operator()(const std::vector<Tensor>& inputs, LayerCallOptions options = {}) const;
  ///@}
  /// The same call with every result, one or several.
  ///@{
  Outputs outputs(const Tensor& input, LayerCallOptions options = {}) const;
  Outputs outputs(std::initializer_list<Tensor> inputs, LayerCallOptions options = {}) const;
  Outputs outputs(const std::vector<Tensor>& inputs, LayerCallOptions options = {}) const;
  ///@}

  void build(const Shape& input) const;                ///< makes the weights; the sizes they need must be numbers
  void build(const std::vector<Shape>& inputs) const;  ///< one shape per input
  bool is_built() const;                               ///< whether the weights are made
  bool defined() const { return layer_ != nullptr; }   ///< false: a handle without a layer

  const std::string& name() const;  ///< as given, or after the class: "dense"
  std::string type() const;         ///< "Dense", or the user's class
  Dtype dtype() const;              ///< of weights and results; floating inputs are cast to it
  /// Weights of this layer and its children, in the order they were made; ArgumentError before build().
  std::vector<Variable> variables() const;
  std::vector<Variable> trainable_variables() const;     ///< those that training changes
  std::vector<Tensor> weights() const;                   ///< the values of variables()
  void set_weights(const std::vector<Tensor>& weights);  ///< all or none
  int64_t parameter_count() const;                       ///< of all weights, the non-trainable too
  bool trainable() const;                                ///< whether training changes the weights
  void set_trainable(bool trainable);                    ///< the children's too
  std::vector<AnyLayer> children() const;                ///< the layers inside, in the order in which they were taken in
  AnyLayer clone() const;                                ///< a layer of its own with the same weights
  /// Its class and options, and those of the layers inside; no weights. A user's class is asked where it is registered, and says so where it is not.
  Config config() const;
  bool accepts_missing() const;                                   ///< NaN in its input is a missing value, not an error
  const std::shared_ptr<Layer>& layer() const { return layer_; }  ///< the layer itself, which copies of the handle share

 protected:
  using Body = std::function<std::vector<Tensor>(std::span<const Tensor> inputs, const CallContext& context)>;
  /// A call of something else than the layer's call_all(): inputs are cast, weights made and errors named as in any call.
  std::vector<Tensor> call_all(std::span<const Tensor> inputs, LayerCallOptions options, const Body& body) const;

 private:
  friend struct detail::MadeAccess;
  void set_made(std::shared_ptr<const detail::Made> made);

  Tensor call(std::span<const Tensor> inputs, LayerCallOptions options) const;
  std::vector<Tensor> results(std::span<const Tensor> inputs, LayerCallOptions options) const;

  std::shared_ptr<Layer> layer_;
};
/// The registry of layers.
template <>
Registry& registry_of<AnyLayer>();

/// The base of layers, the user's own and ours. Override build() to make weights and call() to use them, or call_all() to give several results.
class Layer {
 public:
  Layer();
  virtual ~Layer();
  Layer(const Layer& other);  ///< of a built layer: shares its weights; of one not built yet: a layer of its own
  Layer(Layer&&) noexcept = default;
  Layer& operator=(const Layer&) = delete;
  Layer& operator=(Layer&&) = delete;

  virtual void build(const Shape&) {}                                      ///< makes the weights for one input
  virtual void build(std::span<const Shape> inputs) { build(inputs[0]); }  ///< for several inputs; by default the build above
  virtual Tensor call(const Tensor& input, const CallContext& context);    ///< one input; ArgumentError where no call is overridden
  virtual Tensor call(std::span<const Tensor> inputs, const CallContext& context);  ///< several inputs; one goes to the call above
  virtual std::vector<Tensor> call_all(std::span<const Tensor> inputs,
                                       const CallContext& context);  ///< every result; the one of call() above
  /// What the results are called, where there are several: losses, metrics and weights are given by these names.
  virtual std::vector<std::string> output_names() const { return {}; }
  virtual std::vector<TensorSpec> input_specs() const { return {}; }  ///< what is declared of the inputs; none: nothing is
  virtual std::vector<std::string> sources() const { return {}; }  ///< what each child, then each output, is computed from; for summary()

  /// Whether a mask on the input holds for the result, too: a layer that works step by step says true.
  virtual bool supports_masking() const { return false; }
  /// The mask that the first result carries unless call() has given it one; undefined tensors stand for none. By default the first input's where
  /// masking is supported.
  virtual Tensor mask(std::span<const Tensor> inputs, std::span<const Tensor> masks) const;
  virtual bool accepts_missing() const { return false; }  ///< NaN in its input is a missing value, not an error
  virtual bool input_accepts_missing(size_t /*input*/) const { return accepts_missing(); }  ///< where its inputs differ in that
  virtual Dtype input_dtype() const { return dtype(); }  ///< of the data that builds it from a shape alone
  Dtype dtype() const;                                   ///< of weights and results

  detail::LayerState& state() const { return *state_; }  ///< for the library

 protected:
  explicit Layer(std::string type_name);  ///< ours: "Dense"

  /// Makes a weight, once, inside build(): sizes become numbers here.
  Variable weight(std::string name, const Shape& shape, WeightOptions options = {});
  /// Takes a layer in, so that its weights are this layer's too: `as::Dense hidden_ = child(as::Dense(64));`
  template <class Child>
  auto child(Child layer);
  /// Adds to the loss of the step in which this is called.
  void add_loss(const Tensor& loss);

 private:
  friend class AnyLayer;
  void add_child(const AnyLayer& layer);

  std::shared_ptr<detail::LayerState> state_;
};

/// A handle to your own layer: as::layer(MyLayer()). Sequential and child() do it by themselves.
///@{
template <class Own>
  requires std::derived_from<Own, Layer>
AnyLayer layer(Own own) {
  AnyLayer::Copy copy = nullptr;
  if constexpr (std::is_copy_constructible_v<Own>) {
    copy = [](const Layer& other) -> std::shared_ptr<Layer> { return std::make_shared<Own>(static_cast<const Own&>(other)); };
  }
  return AnyLayer(std::make_shared<Own>(std::move(own)), copy);
}
template <class Handle>
  requires std::derived_from<Handle, AnyLayer>
Handle layer(Handle handle) {
  return handle;
}
///@}

template <class Child>
auto Layer::child(Child own) {
  auto handle = anyshape::layer(std::move(own));
  add_child(handle);
  return handle;
}

Dtype default_dtype();                ///< of weights and results of layers: f32 unless set
void set_default_dtype(Dtype dtype);  ///< of layers that are given none; DtypeError for one that is not floating

}  // namespace anyshape
#pragma GCC visibility pop
