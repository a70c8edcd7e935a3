// Random numbers: counter-based, the same for any number of threads, eagerly and compiled.
#pragma once
#include <anyshape/tensor.h>

namespace [[gnu::visibility("default")]] anyshape {
namespace random {

void set_seed(uint64_t seed);  // numbers from here on depend on the seed and the order of calls alone

struct NormalOptions {
  double mean = 0;
  double deviation = 1;
  Dtype dtype = Dtype::f32;
};
Tensor normal(const Shape& shape, NormalOptions options = {});

struct UniformOptions {
  double low = 0;
  double high = 1;
  Dtype dtype = Dtype::f32;
};
Tensor uniform(const Shape& shape, UniformOptions options = {});

}  // namespace random
}  // namespace anyshape
