// Checked where a loop begins: traced, compiled and eager ones alike.
#include "graph/packed_counts.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape {

void require_counts(std::span<const int64_t> counts, int64_t rows, int64_t total) {
  int64_t before = rows, sum = 0;
  for (size_t step = 0; step < counts.size(); ++step) {
    if (counts[step] < 0 || counts[step] > before) {
      throw DataError(fmt::format("scan: step {} has {} active rows; expected 0 to {}: rows in the order of decreasing length.", step,
                                  counts[step], before));
    }
    before = counts[step];
    sum += counts[step];
  }
  if (sum != total) throw DataError(fmt::format("scan: the steps have {} active rows together; expected {}.", sum, total));
}

}  // namespace anyshape
