// A seed where none is given.
#include "data/dataset_impl.h"

#include <anyshape/random.h>

namespace anyshape::data {

int64_t drawn_seed() {
  constexpr int64_t seeds = int64_t{1} << 31U;
  return random::integers({}, {.high = seeds, .dtype = Dtype::i64}).item<int64_t>();
}

}  // namespace anyshape::data
