// Runs any ONNX file: says what it takes and gives, and runs it on .npy files, or on ones of a size for each open size.
// Usage: run_onnx MODEL.onnx [INPUT.npy ...]
#include <anyshape/anyshape.h>
#include <anyshape/io.h>
#include <anyshape/onnx.h>

#include <chrono>
#include <iostream>
#include <string>
#include <vector>

namespace as = anyshape;
using as::Tensor;

namespace {

// Ones of a size that most models take where a size is open.
Tensor example(const as::TensorSpec& spec, int64_t open) {
  as::Shape shape;
  for (const as::Dim& size : spec.shape) shape.push_back(size.is_constant() ? size : as::Dim(open));
  return as::ones(shape, {.dtype = spec.dtype});
}

int run(const std::string& file, const std::vector<std::string>& given) {
  const as::Model model = as::onnx::load(file);
  const std::vector<as::TensorSpec> inputs = as::onnx::inputs(model);
  std::cout << file << ": " << model.parameter_count() << " numbers are weights\n";
  for (const as::TensorSpec& input : inputs) std::cout << "  takes " << input << "\n";
  if (!given.empty() && given.size() != inputs.size()) {
    std::cerr << "run_onnx: " << given.size() << " files are given; expected one for each of " << inputs.size() << " inputs\n";
    return 2;
  }

  auto call =
      as::function([&](const std::vector<Tensor>& tensors) { return model.outputs(tensors); }, {.name = "run", .signature = inputs});
  std::vector<std::vector<Tensor>> calls;
  if (!given.empty()) {
    calls.emplace_back();
    for (const std::string& each : given) calls.back().push_back(as::load_npy(each));
  } else {
    for (const int64_t open : {32, 64, 96}) {
      calls.emplace_back();
      for (const as::TensorSpec& input : inputs) calls.back().push_back(example(input, open));
    }
  }
  for (const std::vector<Tensor>& tensors : calls) {
    const auto begin = std::chrono::steady_clock::now();
    const as::Outputs outputs = call(tensors);
    const std::vector<std::string> names = outputs.names();
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::cout << "  gives " << names[i] << ": " << as::to_string(outputs[i].dtype()) << outputs[i].shape() << "\n";
      if (!given.empty()) std::cout << outputs[i] << "\n";
    }
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begin;
    std::cout << "    in " << taken.count() << " ms\n";
  }
  std::cout << call.stats().traces << " trace, " << call.stats().compiles << " compile\n";
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::cerr << "usage: run_onnx MODEL.onnx [INPUT.npy ...]\n";
    return 2;
  }
  try {
    return run(arguments[1], {arguments + 2, arguments + count});
  } catch (const as::Error& problem) {
    std::cerr << problem.what() << "\n";
    return 1;
  }
}
