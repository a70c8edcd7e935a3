// Networks: layers that are made of layers.
#pragma once
#include "nn/layer_state.h"
#include "nn/placeholder.h"
#include "shape/substitute.h"

#include <anyshape/layer.h>

#include <string>
#include <vector>

namespace anyshape::nn {

class SequentialNetwork final : public Layer {
 public:
  explicit SequentialNetwork(const std::vector<AnyLayer>& layers);
  void add(const AnyLayer& layer);

  Tensor call(std::span<const Tensor> inputs, const CallContext& context) override;
  bool accepts_missing() const override;
  Dtype input_dtype() const override;
};

// What placeholders describe, as steps in order; shared layers are one child.
class FunctionalNetwork final : public Layer {
 public:
  // ArgumentError for an output that does not come from the inputs, or an input that is none.
  FunctionalNetwork(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);

  Tensor call(std::span<const Tensor> inputs, const CallContext& context) override;
  std::vector<Tensor> call_all(std::span<const Tensor> inputs) const;  // every output
  bool accepts_missing() const override;
  Dtype input_dtype() const override { return input_specs_.front().dtype; }

  const std::vector<TensorSpec>& input_specs() const { return input_specs_; }
  size_t outputs() const { return outputs_.size(); }
  std::vector<std::string> output_names() const;  // the layers' that make them; empty where an op does
  bool accepts_missing(size_t input) const;       // as every layer does that this input reaches first
  size_t constants() const { return constants_.size(); }

  struct Step {
    AnyLayer layer = {};  // or
    const OpDef* op = nullptr;
    Attrs attrs = {};
    LayerCallOptions options = {};
    std::vector<int> inputs = {};  // values: the model's inputs, then constants, then results of steps
    std::vector<TensorSpec> results = {};
  };
  const std::vector<Step>& steps() const { return steps_; }

 private:
  Substitution sizes_of(std::span<const Tensor> inputs) const;
  std::vector<TensorSpec> input_specs_;
  std::vector<Tensor> constants_;
  std::vector<Step> steps_;
  std::vector<int> outputs_;
};

}  // namespace anyshape::nn
