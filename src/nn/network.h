// Networks: layers that are made of layers.
#pragma once
#include "nn/layer_state.h"
#include "nn/placeholder.h"
#include "shape/substitute.h"

#include <anyshape/layer.h>
#include <anyshape/per_output.h>

#include <string>
#include <vector>

namespace anyshape::nn {

class SequentialNetwork final : public Layer {
 public:
  explicit SequentialNetwork(const std::vector<AnyLayer>& layers);
  void add(const AnyLayer& layer);

  std::vector<Tensor> call_all(std::span<const Tensor> inputs, const CallContext& context) override;
  std::vector<std::string> output_names() const override;   // the last layer's
  std::vector<TensorSpec> input_specs() const override;     // the first one's
  bool accepts_missing() const override;                    // likewise
  bool input_accepts_missing(size_t input) const override;  // likewise
  Dtype input_dtype() const override;
};

// What placeholders describe, as steps in order; shared layers are one child.
class FunctionalNetwork final : public Layer {
 public:
  // ArgumentError for an output that does not come from the inputs, or an input that is none.
  FunctionalNetwork(const std::vector<Tensor>& inputs, const PerOutput<Tensor>& outputs);

  std::vector<Tensor> call_all(std::span<const Tensor> inputs, const CallContext& context) override;
  std::vector<TensorSpec> input_specs() const override { return input_specs_; }
  std::vector<std::string> output_names() const override { return output_names_; }
  std::vector<std::string> sources() const override;
  bool accepts_missing() const override;
  bool input_accepts_missing(size_t input) const override;  // as every layer does that this input reaches first
  Dtype input_dtype() const override { return input_specs_.front().dtype; }

  struct Step {
    AnyLayer layer = {};  // or
    const OpDef* op = nullptr;
    Attrs attrs = {};
    LayerCallOptions options = {};
    std::vector<int> inputs = {};  // values: the model's inputs, then constants, then results of steps
    std::vector<TensorSpec> results = {};
  };
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Tensor>& constant_values() const { return constants_; }
  const std::vector<int>& output_values() const { return outputs_; }

 private:
  // The name of every value: the input's, the layer's or the op's that makes it.
  std::vector<std::string> value_names() const;
  void name_outputs(const PerOutput<Tensor>& outputs);
  Substitution sizes_of(std::span<const Tensor> inputs) const;
  std::vector<TensorSpec> input_specs_;
  std::vector<Tensor> constants_;
  std::vector<Step> steps_;
  std::vector<int> outputs_;
  std::vector<std::string> output_names_;  // each its own
};

}  // namespace anyshape::nn
