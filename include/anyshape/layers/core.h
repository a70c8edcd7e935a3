// Layers without a notion of time: Dense, Embedding, Activation, Lambda, shapes, merges, regularisation.
#pragma once
#include <anyshape/layer.h>

#pragma GCC visibility push(default)
namespace anyshape {

/// The activation is linear by default.
struct DenseOptions {
  ActivationFunction activation = {};
  bool use_bias = true;
  Initializer kernel_initializer = "glorot_uniform";
  Initializer bias_initializer = "zeros";
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// A weighted sum over the last axis: activation(x @ kernel + bias).
class Dense : public AnyLayer {
 public:
  explicit Dense(int64_t units, DenseOptions options = {});
};

/// The initializer makes the one weight, [count, size].
struct EmbeddingOptions {
  Initializer embeddings_initializer = "random_uniform";
  bool mask_zero = false;  ///< id 0 is padding: the result carries a mask
  Regularizer embeddings_regularizer = {};
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// A row per id; DataError for ids outside 0..count-1.
class Embedding : public AnyLayer {
 public:
  Embedding(int64_t count, int64_t size, EmbeddingOptions options = {});
};

/// What every layer takes: a name, by default after its class, and a dtype of weights and results, by default default_dtype().
struct LayerOptions {
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// An activation as a layer; a mask stays.
class Activation : public AnyLayer {
 public:
  explicit Activation(ActivationFunction activation, LayerOptions options = {});
};
/// Any callable on a tensor.
class Lambda : public AnyLayer {
 public:
  explicit Lambda(std::function<Tensor(const Tensor&)> callable, LayerOptions options = {});
};
/// All of a row in one axis: [batch, all the rest].
class Flatten : public AnyLayer {
 public:
  explicit Flatten(LayerOptions options = {});
};
/// Other sizes for the same elements of a row; the target is without the batch, and one of its sizes may be -1: what is left.
class Reshape : public AnyLayer {
 public:
  explicit Reshape(std::vector<int64_t> target, LayerOptions options = {});
};
/// Numbers in another range: x * scale + offset.
class Rescaling : public AnyLayer {
 public:
  explicit Rescaling(double scale, double offset = 0, LayerOptions options = {});
};

/// Options of Dropout: with a seed it does not depend on random::set_seed.
struct DropoutOptions {
  std::optional<int64_t> seed = {};  ///< what is drawn depends on it and on how often the layer was called alone; none: on random::set_seed
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// In training an element is 0 with probability `rate`, and the rest is scaled up.
class Dropout : public AnyLayer {
 public:
  explicit Dropout(double rate, DropoutOptions options = {});
};

/// The axis along which inputs are put together.
struct ConcatenateOptions {
  int axis = -1;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
/// The inputs one after the other along an axis; the other axes have equal sizes.
class Concatenate : public AnyLayer {
 public:
  explicit Concatenate(ConcatenateOptions options = {});
};
/// The sum of two or more inputs; ArgumentError for one.
class Add : public AnyLayer {
 public:
  explicit Add(LayerOptions options = {});
};
/// The product of two or more inputs, ArgumentError for one; a masked step is a factor of 1.
class Multiply : public AnyLayer {
 public:
  explicit Multiply(LayerOptions options = {});
};

}  // namespace anyshape
#pragma GCC visibility pop
