// Samples of Dense, Embedding, pointwise layers, shapes and merges.
#include "nn/check_layer.h"

namespace anyshape::test {
namespace {

std::vector<Tensor> three_inputs(int64_t rows, int64_t time, int seed) {
  return {numbers({rows, time, 2}, seed), numbers({rows, time, 2}, seed + 30), numbers({rows, time, 2}, seed + 60)};
}

[[maybe_unused]] const bool registered = register_layer_samples({
    {.layer = "Dense", .make = [] { return Dense(3, {.activation = "tanh", .dtype = f64}); }, .inputs = steps_of(2)},
    {.layer = "Dense",
     .label = "matrix",
     .make = [] { return Dense(3, {.activation = softmax, .use_bias = false, .dtype = f64}); },
     .inputs = [](int64_t rows, int64_t, int seed) { return std::vector{numbers({rows, 4}, seed)}; },
     .over_time = false},
    {.layer = "Embedding",
     .make = [] { return Embedding(11, 3, {.dtype = f64}); },
     .inputs = [](int64_t rows, int64_t time, int seed) { return std::vector{ids({rows, time}, 11, seed)}; },
     .mask = MaskFate::Drops},
    {.layer = "Embedding",
     .label = "mask_zero",
     .make = [] { return Embedding(11, 3, {.mask_zero = true, .dtype = f64}); },
     .inputs = [](int64_t rows, int64_t time, int seed) { return std::vector{ids({rows, time}, 10, seed) + 1}; },
     .mask = MaskFate::Makes},
    {.layer = "Activation", .make = [] { return Activation(gelu, {.dtype = f64}); }, .inputs = steps_of(3)},
    {.layer = "Activation", .label = "softmax", .make = [] { return Activation("softmax", {.dtype = f64}); }, .inputs = steps_of(3)},
    {.layer = "Lambda",
     .make = [] { return Lambda([](const Tensor& x) { return x * x + 1; }, {.dtype = f64}); },
     .inputs = steps_of(3),
     .mask = MaskFate::Drops},
    {.layer = "Rescaling", .make = [] { return Rescaling(0.25, -1, {.dtype = f64}); }, .inputs = steps_of(3)},
    {.layer = "Dropout", .make = [] { return Dropout(0.3, {.dtype = f64}); }, .inputs = steps_of(3)},
    {.layer = "Flatten",
     .make = [] { return Flatten({.dtype = f64}); },
     .inputs = steps_of(3),
     .mask = MaskFate::Drops,
     .no_ragged = "rows of unequal length do not become rows of equal length"},
    {.layer = "Reshape",
     .make = [] { return Reshape({-1, 2}, {.dtype = f64}); },
     .inputs = [](int64_t rows, int64_t, int seed) { return std::vector{numbers({rows, 4, 3}, seed)}; },
     .over_time = false},
    {.layer = "Concatenate", .make = [] { return Concatenate({.dtype = f64}); }, .inputs = three_inputs},
    {.layer = "Add", .make = [] { return Add({.dtype = f64}); }, .inputs = three_inputs},
    {.layer = "Multiply", .make = [] { return Multiply({.dtype = f64}); }, .inputs = three_inputs},
});

}  // namespace
}  // namespace anyshape::test
