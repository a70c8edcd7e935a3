// Samples of poolings over time and of Masking.
#include "nn/check_layer.h"

namespace anyshape::test {
namespace {

[[maybe_unused]] const bool registered = register_layer_samples({
    {.layer = "GlobalAveragePooling1D",
     .make = [] { return GlobalAveragePooling1D({.dtype = f64}); },
     .inputs = steps_of(3),
     .mask = MaskFate::Drops},
    {.layer = "GlobalMaxPooling1D",
     .make = [] { return GlobalMaxPooling1D({.dtype = f64}); },
     .inputs = steps_of(3),
     .mask = MaskFate::Drops},
    {.layer = "Masking", .make = [] { return Masking({.mask_value = 9, .dtype = f64}); }, .inputs = steps_of(2), .mask = MaskFate::Makes},
});

}  // namespace
}  // namespace anyshape::test
