// Inputs of a model held to what as::input() declared of them.
#pragma once
#include <anyshape/layer.h>
#include <anyshape/spec.h>

#include <span>
#include <string>
#include <vector>

namespace anyshape::nn {

// The tensors, with [n] as [n, 1] where that is declared. ShapeError or DtypeError, naming the model, the input and both sides, for another rank,
// another size where a number or a size of another input is declared, and another kind of dtype; a size that a trace does not know yet
// becomes a check. Rows of unequal length may stand for any open size.
std::vector<Tensor> held_inputs(const std::string& model, std::span<const TensorSpec> declared, std::span<const Tensor> given);

}  // namespace anyshape::nn
