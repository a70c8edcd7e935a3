// ONNX files as models: one trace and one compile for every size, trainable, and saved like any other model.
#pragma once
#include <anyshape/dim.h>
#include <anyshape/model.h>
#include <anyshape/spec.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape::onnx {

/// How load() reads a file.
struct LoadOptions {
  /// Sizes by the names that the file gives them, or "input.0" for axis 0 of an input without a name there: a number fixes it, as::dim("batch") renames it.
  std::map<std::string, Dim> dims = {};
  /// Inputs that are the same in every call, such as a sample rate: they are no inputs of the model, and branches on them are decided once.
  std::map<std::string, Tensor> values = {};
  bool trainable = false;  ///< fit() changes the weights; then nothing is computed of them beforehand
  std::string name = {};   ///< of the model; none: the file's name
};

/// A model that does what the file says; inputs and outputs have the file's names. FormatError for what is no whole ONNX file, and one that lists every op
/// of the file that is not supported.
Model load(const std::filesystem::path& file, LoadOptions options = {});

/// What a model takes, by name, with its open sizes: `function(model, {.signature = as::onnx::inputs(model)})`. ArgumentError for a model that load() has
/// not made.
std::vector<TensorSpec> inputs(const Model& model);
/// What the file says of itself beside its graph, such as the letters that a model reads; ArgumentError as above.
std::map<std::string, std::string> metadata(const Model& model);

}  // namespace anyshape::onnx
#pragma GCC visibility pop
