// What is done with a model's graph once, before it is called: which inputs it has, what is constant, which weights are left.
#pragma once
#include "onnx/proto.h"
#include "onnx/value.h"

#include <anyshape/onnx.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace anyshape::onnx {

struct Prepared {
  ModelProto model;  // the nodes that are left
  std::vector<ValueInfoProto> inputs;
  std::vector<TensorSpec> specs;  // of the inputs
  std::map<std::string, Value> constants;
  std::vector<std::pair<std::string, Tensor>> weights;
};

// FormatError that lists each op without a rule, how often it is there, and in which opset.
void require_supported(const ModelProto& model, const std::string& file);

Prepared prepare(ModelProto model, const std::string& file, const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace anyshape::onnx
