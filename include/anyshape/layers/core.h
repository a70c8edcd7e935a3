// Layers without a notion of time: Dense, Embedding, Activation, Lambda, shapes, merges, regularisation.
#pragma once
#include <anyshape/layer.h>

#pragma GCC visibility push(default)
namespace anyshape {

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
class Dense : public AnyLayer {  // activation(x @ kernel + bias) over the last axis
 public:
  explicit Dense(int64_t units, DenseOptions options = {});
};

struct EmbeddingOptions {
  Initializer embeddings_initializer = "random_uniform";
  bool mask_zero = false;  // id 0 is padding: the result carries a mask
  Regularizer embeddings_regularizer = {};
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class Embedding : public AnyLayer {  // a row per id; DataError for ids outside 0..count-1
 public:
  Embedding(int64_t count, int64_t size, EmbeddingOptions options = {});
};

struct LayerOptions {
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class Activation : public AnyLayer {
 public:
  explicit Activation(ActivationFunction activation, LayerOptions options = {});
};
class Lambda : public AnyLayer {  // any callable on a tensor
 public:
  explicit Lambda(std::function<Tensor(const Tensor&)> callable, LayerOptions options = {});
};
class Flatten : public AnyLayer {  // [batch, all the rest]
 public:
  explicit Flatten(LayerOptions options = {});
};
class Reshape : public AnyLayer {  // sizes without the batch; one may be -1
 public:
  explicit Reshape(std::vector<int64_t> target, LayerOptions options = {});
};
class Rescaling : public AnyLayer {  // x * scale + offset
 public:
  explicit Rescaling(double scale, double offset = 0, LayerOptions options = {});
};

class Dropout : public AnyLayer {  // in training: zero with probability `rate`, the rest scaled up; random::set_seed decides what is drawn
 public:
  explicit Dropout(double rate, LayerOptions options = {});
};

struct ConcatenateOptions {
  int axis = -1;
  std::string name = {};
  std::optional<Dtype> dtype = {};
};
class Concatenate : public AnyLayer {
 public:
  explicit Concatenate(ConcatenateOptions options = {});
};
class Add : public AnyLayer {
 public:
  explicit Add(LayerOptions options = {});
};
class Multiply : public AnyLayer {
 public:
  explicit Multiply(LayerOptions options = {});
};

}  // namespace anyshape
#pragma GCC visibility pop
