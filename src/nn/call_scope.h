// Callables of layers as scopes of the trace in progress: an `if` on a tensor inside one is traced both ways there, and costs one branch.
#pragma once
#include <anyshape/tensor.h>

#include <functional>
#include <vector>

namespace anyshape::nn {

// What `body` gives, with their rows and masks; simply called, outside a trace.
std::vector<Tensor> run_in_scope(const std::function<std::vector<Tensor>()>& body);

}  // namespace anyshape::nn
