// Between ragged and padded tensors.
#include "ops/ragged/partition.h"
#include "shape/prove.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ops/segment.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

Dim padded_length(const Tensor& x, const Partition& partition, const ToPaddedOptions& options) {
  if (options.length) return *options.length;
  if (partition.longest) return *partition.longest;
  throw TraceError(fmt::format(
      "to_padded: the longest row of {} is not known inside a traced function; expected .length: to_padded(x, {{.length = 128}}).",
      describe(x)));
}

}  // namespace

Tensor to_padded(const Tensor& x, const ToPaddedOptions& options) {
  const auto& [values, partition] = require_ragged("to_padded", x);
  return segment::to_padded(values, partition->splits, padded_length(x, *partition, options), {.value = options.value});
}

Tensor from_padded(const Tensor& x, const Tensor& lengths) {
  constexpr std::string_view op = "from_padded";
  if (x.is_ragged() || x.rank() < 2) throw ShapeError(fmt::format("{}: x is {}; expected a dense [rows, time, ...].", op, describe(x)));
  const Shape shape = x.shape();
  if (lengths.is_ragged() || lengths.rank() != 1 || proves_equal(lengths.shape()[0], shape[0]) == false) {
    throw ShapeError(fmt::format("{}: x is {}, the lengths are {}; expected one length per row.", op, describe(x), describe(lengths)));
  }
  const Tensor wide = cast(lengths, Dtype::i64);
  const PartitionPointer partition =
      partition_of_lengths(op, wide,
                           sum_of(op, wide,
                                  "Inside one, segment::from_padded(x, splits, total) takes rows whose total is "
                                  "known, such as those of a ragged argument."));
  if (proves_less_equal(*partition->longest, shape[1]) == false) {
    throw DataError(fmt::format("{}: a row has the length {}: x is {}; expected lengths of at most {}.", op, to_string(*partition->longest),
                                describe(x), to_string(shape[1])));
  }
  return make_ragged(segment::from_padded(x, partition->splits, partition->total), partition);
}

}  // namespace anyshape
