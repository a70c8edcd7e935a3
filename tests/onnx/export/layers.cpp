// Every sample of every layer, in f32.
#include "nn/check_layer.h"
#include "onnx/export/case_writer.h"

#include <algorithm>

namespace anyshape::test {
namespace {

// Samples are f64, for differences; the same layer in f32 is made from its config.
Config in_f32(const Config& config) {
  std::string text = config.to_json();
  const std::string from = "\"f64\"", to = "\"f32\"";
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) text.replace(at, from.size(), to);
  return Config::from_json(text);
}

Tensor in_f32(const Tensor& tensor) { return tensor.dtype() == Dtype::f64 ? cast(tensor, Dtype::f32) : tensor; }

}  // namespace

void write_layers(CaseWriter& writer) {
  for (const LayerSample& sample : layer_samples()) {
    const std::string name = "layer " + sample.layer + " " + sample.label;
    AnyLayer made = sample.make();
    bool is_f32 = true;
    try {
      made = make<AnyLayer>(in_f32(made.config()));
    } catch (const Error&) {  // of the program's own parts
      is_f32 = false;
    }
    std::vector<std::vector<Tensor>> calls;
    for (const auto& [rows, time] : {std::pair<int64_t, int64_t>{3, 5}, {1, 4}, {2, 7}, {5, 6}, {4, 9}}) {
      std::vector<Tensor> inputs =
          sample.inputs(std::max(rows, sample.least_rows), std::max(time, sample.least_time), static_cast<int>(time));
      if (is_f32) std::ranges::transform(inputs, inputs.begin(), [](const Tensor& each) { return in_f32(each); });
      calls.push_back(std::move(inputs));
    }
    try {
      made.outputs(calls[0], {.training = false});
    } catch (const ArgumentError&) {  // a layer that has learned from data, which its config does not say
      made = sample.make();
      std::ranges::for_each(calls, [&](std::vector<Tensor>& inputs) {
        inputs = sample.inputs(inputs[0].shape()[0].value(), inputs[0].shape()[1].value(), 1);
      });
      made.outputs(calls[0], {.training = false});
    }
    writer.write(name, [&](const std::vector<Tensor>& inputs) { return made.outputs(inputs, {.training = false}).tensors(); }, calls);
  }
}

}  // namespace anyshape::test
