// Samples of MultiHeadAttention.
#include "nn/check_layer.h"

namespace anyshape::test {
namespace {

[[maybe_unused]] const bool registered = register_layer_samples({
    {.layer = "MultiHeadAttention", .make = [] { return MultiHeadAttention(2, 3, {.dtype = f64}); }, .inputs = steps_of(4)},
    {.layer = "MultiHeadAttention",
     .label = "cross",
     .make = [] { return MultiHeadAttention(2, 3, {.value_dim = 2, .use_bias = false, .output_size = 5, .dtype = f64}); },
     .inputs =
         [](int64_t rows, int64_t time, int seed) {
           return std::vector{numbers({rows, time, 4}, seed), numbers({rows, time, 3}, seed + 20), numbers({rows, time, 2}, seed + 40)};
         }},
});

}  // namespace
}  // namespace anyshape::test
