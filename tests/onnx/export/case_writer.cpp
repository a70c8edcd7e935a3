// Folders of cases.
#include "onnx/export/case_writer.h"

#include <fmt/format.h>

#include <fstream>
#include <utility>

namespace anyshape::test {

namespace {

// What a convolution takes: images of any number and size, and everything else as it is.
std::vector<TensorSpec> with_fixed_kernels(const std::vector<Tensor>& inputs) {
  std::vector<TensorSpec> specs;
  for (const Tensor& input : inputs) {
    Shape shape = input.shape();
    for (int axis = 0; specs.empty() && axis + 1 < shape.rank(); ++axis) shape[axis] = dynamic;
    specs.push_back({input.dtype(), shape, {}});
  }
  return specs;
}

bool fits(const std::vector<TensorSpec>& specs, const std::vector<Tensor>& inputs) {
  for (size_t i = 0; i < specs.size(); ++i) {
    for (int axis = 0; axis < specs[i].shape.rank(); ++axis) {
      const Dim& size = specs[i].shape[axis];
      if (size.is_constant() && !size.same_as(inputs[i].shape()[axis])) return false;
    }
  }
  return true;
}

}  // namespace

CaseWriter::CaseWriter(std::filesystem::path folder) : folder_(std::move(folder)) { std::filesystem::create_directories(folder_); }

std::filesystem::path CaseWriter::begin(const std::string& name) {
  std::string plain = name;
  for (char& c : plain) {
    if (c == ' ' || c == '/' || c == ',') c = '_';
  }
  current_ = folder_ / plain;
  std::filesystem::create_directories(current_);
  call_ = 0;
  return current_ / "model.onnx";
}

void CaseWriter::add_call(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
  for (const auto& [kind, tensors] : {std::pair("in", &inputs), std::pair("out", &outputs)}) {
    int number = 0;
    const auto save = [&](Tensor tensor) {
      if (tensor.dtype() == Dtype::bf16) tensor = cast(tensor, Dtype::f32);
      save_npy((current_ / fmt::format("{}_{}_{}.npy", call_, kind, number++)).string(), tensor);
    };
    for (const Tensor& tensor : *tensors) {
      save(tensor.values());
      if (tensor.is_ragged() && tensors == &inputs) save(tensor.row_splits());  // of results they are an argument's
    }
  }
  ++call_;
}

void CaseWriter::refuse(const std::string& name, const std::string& why) {
  std::ofstream(folder_ / "refused.txt", std::ios::app) << name << ": " << why << "\n";
}

void CaseWriter::write(const std::string& name, const Callable& callable, const std::vector<std::vector<Tensor>>& calls) {
  const auto traced = function([&](const std::vector<Tensor>& tensors) { return callable(tensors); },
                               {.name = name, .retrace = Retrace::Allow, .check_frozen = false});
  const std::filesystem::path file = begin(name);
  bool is_fixed = false;
  try {
    try {
      onnx::save(traced, file, {}, calls[0]);
    } catch (const ArgumentError& error) {
      is_fixed = std::string_view(error.what()).find("known at the call only") != std::string_view::npos;
      if (!is_fixed) throw;
      onnx::save(traced, file, {.inputs = with_fixed_kernels(calls[0])}, calls[0]);
    }
  } catch (const ArgumentError& error) {
    std::filesystem::remove_all(file.parent_path());
    return refuse(name, error.what());
  }
  for (const std::vector<Tensor>& inputs : calls) {
    if (is_fixed && !fits(with_fixed_kernels(calls[0]), inputs)) continue;
    const std::vector<Tensor> outputs = traced(inputs);
    if (traced.stats().traces > 1) return;  // of sizes that decide what is traced the file has those of the first call
    add_call(inputs, outputs);
  }
}

void CaseWriter::write(const std::string& name, const Model& model, const onnx::SaveOptions& options,
                       const std::vector<std::vector<Tensor>>& calls) {
  const std::filesystem::path file = begin(name);
  try {
    onnx::save(model, file, options);
  } catch (const ArgumentError& error) {
    std::filesystem::remove_all(file.parent_path());
    return refuse(name, error.what());
  }
  for (const std::vector<Tensor>& inputs : calls) add_call(inputs, model.outputs(inputs, {.training = false}).tensors());
}

}  // namespace anyshape::test
