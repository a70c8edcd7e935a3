// A scope gives dense tensors: values and masks go through the join, the handles around them are put together again behind it.
#include "nn/call_scope.h"

#include "graph/trace_scope.h"
#include "nn/notes.h"
#include "tensor/partition.h"

namespace anyshape::nn {
namespace {

const Tensor& values_of(const Tensor& tensor) {
  const RaggedTensor* const ragged = as_ragged(tensor);
  return ragged == nullptr ? tensor : ragged->values;
}

}  // namespace

std::vector<Tensor> run_in_scope(const std::function<std::vector<Tensor>()>& body) {
  if (current_trace_scope() == nullptr) return body();
  const FunctionResults joined = run_scope([&]() -> FunctionResults {
    const std::vector<Tensor> results = body();
    std::vector<Tensor> parts;
    for (const Tensor& result : results) {
      parts.push_back(values_of(result));
      if (const Tensor mask = mask_of(result); mask.defined()) parts.push_back(mask);
    }
    return {std::move(parts), std::make_shared<const std::vector<Tensor>>(results)};
  });
  std::vector<Tensor> results = *static_cast<const std::vector<Tensor>*>(joined.layout.get());
  size_t next = 0;
  for (Tensor& result : results) {
    const Tensor& values = joined.tensors[next++];
    const Tensor mask = mask_of(result).defined() ? joined.tensors[next++] : Tensor();
    if (values.impl() == values_of(result).impl()) continue;  // there was no branch: its notes hold
    const RaggedTensor* const ragged = as_ragged(result);
    result = ragged == nullptr ? values : make_ragged(values, ragged->partition);
    if (mask.defined()) result = with_mask(result, mask);
  }
  return results;
}

}  // namespace anyshape::nn
