// What a layer's call gives, asked without data: the call is traced on symbolic sizes. Builds the layers it meets.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/spec.h>

#include <span>
#include <string>
#include <vector>

namespace anyshape::nn {

std::vector<TensorSpec> result_specs(const AnyLayer& layer, std::span<const TensorSpec> inputs, LayerCallOptions options = {});

// The same for every call of a layer inside, in the order in which they end; the layer itself comes last.
struct DescribedCall {
  const Layer* layer = nullptr;
  std::vector<TensorSpec> results = {};
};
struct DescribedCalls {
  std::vector<DescribedCall> calls;
  bool is_general = true;  // for all sizes, or all that are large enough: no other rule on them was left open
};
DescribedCalls described_calls(const AnyLayer& layer, std::span<const TensorSpec> inputs);

// Called at the end of every layer's call: noted while a description is made.
void note_results(const AnyLayer& layer, std::span<const Tensor> results);

bool is_describing();  // on this thread: there are shapes, but no data

// Symbols instead of as::dynamic: the batch, the time behind it, and sizes by their axis; height and width of images. The same ones in every shape.
Shape with_open_sizes(const Shape& shape);
bool is_open_size(const Dim& size, int axis);  // as::dynamic, or one of these symbols

// ShapeError naming the weight where a size that it needs has no value: outside a trace, and in a description.
void require_known_size(const Layer& layer, const std::string& weight, const Dim& size);

}  // namespace anyshape::nn
