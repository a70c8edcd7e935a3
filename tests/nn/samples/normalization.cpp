// Samples of layers that normalise and fill gaps.
#include "nn/check_layer.h"

namespace anyshape::test {
namespace {

[[maybe_unused]] const bool registered = register_layer_samples({
    {.layer = "LayerNormalization", .make = [] { return LayerNormalization({.dtype = f64}); }, .inputs = steps_of(4)},
    {.layer = "LayerNormalization",
     .label = "two_axes",
     .make = [] { return LayerNormalization({.axes = {-1, 1}, .dtype = f64}); },
     .inputs = [](int64_t rows, int64_t, int seed) { return std::vector{numbers({rows, 3, 2}, seed)}; },
     .over_time = false},
    {.layer = "BatchNormalization", .make = [] { return BatchNormalization({.dtype = f64}); }, .inputs = steps_of(3)},
    {.layer = "BatchNormalization",
     .label = "first_axis",
     .make = [] { return BatchNormalization({.axis = 1, .scale = false, .dtype = f64}); },
     .inputs = [](int64_t rows, int64_t, int seed) { return std::vector{numbers({rows, 3, 2}, seed)}; },
     .over_time = false},
    {.layer = "BatchNormalization",
     .label = "images",
     .make = [] { return BatchNormalization({.dtype = f64}); },
     .inputs = [](int64_t rows, int64_t time, int seed) { return std::vector{numbers({rows, time, 3, 2}, seed)}; }},
    {.layer = "GroupNormalization",
     .make = [] { return GroupNormalization({.groups = 2, .dtype = f64}); },
     .inputs = steps_of(4),
     .no_ragged = "rows of unequal length are refused"},
    {.layer = "GroupNormalization",
     .label = "each_channel",
     .make = [] { return GroupNormalization({.groups = -1, .axis = 1, .center = false, .dtype = f64}); },
     .inputs = [](int64_t rows, int64_t, int seed) { return std::vector{numbers({rows, 3, 2, 2}, seed)}; },
     .over_time = false},
    {.layer = "Normalization",
     .make =
         [] {
           Normalization layer({.dtype = f64});
           layer.adapt(numbers({20, 3}, 5));
           return layer;
         },
     .inputs = steps_of(3)},
    {.layer = "FillMissing",
     .make =
         [] {
           FillMissing layer({.strategy = Missing::Median, .add_indicator = true, .dtype = f64});
           layer.adapt(numbers({20, 3}, 5));
           return layer;
         },
     .inputs = steps_of(3)},
});

}  // namespace
}  // namespace anyshape::test
