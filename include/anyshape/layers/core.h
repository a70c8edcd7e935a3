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
class Dense : public AnyLayer {  ///< activation(x @ kernel + bias) over the last axis
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
class Embedding : public AnyLayer {  ///< a row per id; DataError for ids outside 0..count-1
 public:
  Embedding(int64_t count, int64_t size, EmbeddingOptions options = {});
};

/// What every layer takes: a name, by default after its class, and a dtype of weights and results, by default default_dtype().
struct LayerOptions {
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class Activation : public AnyLayer {  ///< an activation as a layer; a mask stays
 public:
  explicit Activation(ActivationFunction activation, LayerOptions options = {});
};
class Lambda : public AnyLayer {  ///< any callable on a tensor
 public:
  explicit Lambda(std::function<Tensor(const Tensor&)> callable, LayerOptions options = {});
};
class Flatten : public AnyLayer {  ///< [batch, all the rest]
 public:
  explicit Flatten(LayerOptions options = {});
};
class Reshape : public AnyLayer {  ///< sizes without the batch; one may be -1
 public:
  explicit Reshape(std::vector<int64_t> target, LayerOptions options = {});
};
class Rescaling : public AnyLayer {  ///< x * scale + offset
 public:
  explicit Rescaling(double scale, double offset = 0, LayerOptions options = {});
};

/// Options of Dropout: with a seed it does not depend on random::set_seed.
struct DropoutOptions {
  std::optional<int64_t> seed = {};  ///< what is drawn depends on it and on how often the layer was called alone; none: on random::set_seed
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class Dropout : public AnyLayer {  ///< in training: zero with probability `rate`, the rest scaled up
 public:
  explicit Dropout(double rate, DropoutOptions options = {});
};

/// The axis along which inputs are put together.
struct ConcatenateOptions {
  int axis = -1;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class Concatenate : public AnyLayer {  ///< the inputs one after the other along an axis; the other axes have equal sizes
 public:
  explicit Concatenate(ConcatenateOptions options = {});
};
class Add : public AnyLayer {  ///< the sum of two or more inputs; ArgumentError for one
 public:
  explicit Add(LayerOptions options = {});
};
class Multiply : public AnyLayer {  ///< the product of two or more inputs, ArgumentError for one; a masked step is a factor of 1
 public:
  explicit Multiply(LayerOptions options = {});
};

}  // namespace anyshape
#pragma GCC visibility pop
