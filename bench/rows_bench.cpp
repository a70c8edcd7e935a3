// How many rows a second a Dataset joins into batches, row by row behind a map(): 100,000 rows of 16 numbers with a label. `rows_bench`.
#include "measure.h"

#include <anyshape/anyshape.h>

#include <cstdint>
#include <cstdio>
#include <string>

namespace as = anyshape;

int main() {
  constexpr int64_t rows = 100'000;
  const as::Tensor x = as::random::normal({rows, 16}), y = as::random::uniform({rows});
  const as::Dataset data = as::Dataset::from(x, y).map([](const as::Example& example) { return example; });
  bench::calibrate();
  for (const int64_t size : {32, 1000, 100'000}) {
    const double time = bench::median(bench::repeated(1, 9, [&] {
      int64_t seen = 0;
      for (const as::Example& batch : data.batch(size)) seen += batch.x.single().shape()[0].value();
      if (seen != rows) std::fprintf(stderr, "rows_bench: %ld of %ld rows\n", static_cast<long>(seen), static_cast<long>(rows));
    }));
    bench::emit(("million_rows_per_second_" + std::to_string(size)).c_str(), static_cast<double>(rows) / time * 1e-3);
  }
}
