// What is done with a model's graph once, before it is called: which inputs it has, what is constant, which weights are left.
#pragma once
#include "onnx/proto.h"
#include "onnx/value.h"

#include <anyshape/onnx.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace anyshape::onnx {

struct Prepared {
  ModelProto model;  // the nodes that are left
  std::vector<ValueInfoProto> inputs;
  std::vector<TensorSpec> specs;  // of the inputs
  std::map<std::string, Value> constants;
  struct Weight {
    std::string name;
    Tensor value;
    bool is_kernel = false;  // turned, as Value::kernel
  };
  std::vector<Weight> weights;
};

// FormatError that lists each op without a rule, how often it is there, and in which opset.
void require_supported(const ModelProto& model, const std::string& file);

// Computes what depends on constants alone, puts batch normalisations into the convolutions before them, and drops what nobody uses.
void fold(ModelProto& model, std::map<std::string, Value>& constants);
// The names that are kernels of convolutions and nothing else.
std::set<std::string> kernels_of(const ModelProto& model);
// Those that say how an op works: they are known while the model is traced, and no weights.
std::set<std::string> settings_of(const ModelProto& model);

Prepared prepare(ModelProto model, const std::string& file, const std::filesystem::path& folder, const LoadOptions& options);

}  // namespace anyshape::onnx
