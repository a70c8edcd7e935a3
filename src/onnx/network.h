// An ONNX file as a layer: a call walks its graph.
#pragma once
#include "onnx/proto.h"
#include "onnx/value.h"

#include <anyshape/layer.h>
#include <anyshape/onnx.h>
#include <anyshape/spec.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace anyshape::onnx {

class Network final : public Layer {
 public:
  // FormatError that lists the ops which have no rule. `folder` is where elements outside of the file are looked for.
  Network(ModelProto model, const std::string& file, const std::filesystem::path& folder, const LoadOptions& options);

  std::vector<Tensor> call_all(std::span<const Tensor> inputs, const CallContext& context) override;
  std::vector<TensorSpec> input_specs() const override { return input_specs_; }
  std::vector<std::string> output_names() const override { return output_names_; }
  Dtype input_dtype() const override { return Dtype::i64; }  // inputs are cast to what each declares, not to the layer's dtype

  // The same on values: sequences, and inputs that are left out.
  std::vector<Value> run(std::span<const Value> inputs) const;
  const ModelProto& model() const { return *model_; }
  const std::vector<ValueInfoProto>& inputs() const { return inputs_; }

 private:
  std::vector<Value> held(std::span<const Tensor> inputs) const;

  std::string file_;
  std::shared_ptr<const ModelProto> model_;
  std::vector<ValueInfoProto> inputs_;  // those that are no initializers
  std::vector<std::string> names_;      // of inputs_
  std::vector<TensorSpec> input_specs_;
  std::vector<std::string> output_names_;
  std::map<std::string, Value> constants_;
  std::map<std::string, Variable> weights_;
};

}  // namespace anyshape::onnx
