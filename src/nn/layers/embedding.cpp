// Embedding: a trainable row per id. Ids are checked where they are used, so that a bad one is named with its layer.
#include "nn/make_layer.h"
#include "nn/whole_numbers.h"

#include <anyshape/layers/core.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

class EmbeddingLayer final : public Layer {
 public:
  EmbeddingLayer(int64_t count, int64_t size, EmbeddingOptions options)
      : Layer("Embedding"), count_(count), size_(size), options_(std::move(options)) {
    nn::require_positive("Embedding", "the number of ids", count);
    nn::require_positive("Embedding", "the size of a row", size);
  }

  Dtype input_dtype() const override { return Dtype::i32; }

  void build(const Shape&) override {
    embeddings_ = weight("embeddings", {count_, size_},
                         {.initializer = options_.embeddings_initializer, .regularizer = options_.embeddings_regularizer});
  }

  Tensor call(const Tensor& ids, const CallContext&) override { return take(embeddings_, nn::as_indices(ids), {.from_end = false}); }

  // Ragged rows have no padding: every id of theirs is real.
  Tensor mask(std::span<const Tensor> inputs, std::span<const Tensor>) const override {
    return options_.mask_zero && !inputs[0].is_ragged() ? inputs[0] != 0 : Tensor();
  }

 private:
  int64_t count_, size_;
  EmbeddingOptions options_;
  Variable embeddings_;
};

}  // namespace

Embedding::Embedding(int64_t count, int64_t size, EmbeddingOptions options)
    : AnyLayer(nn::make_layer<EmbeddingLayer>(options, nn::EmbeddingArguments{count, size})) {}

}  // namespace anyshape
