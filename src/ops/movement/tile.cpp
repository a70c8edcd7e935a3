// tile and repeat: an axis of size 1 beside the one to repeat, broadcast and joined with it again.
#include "graph/named_call.h"
#include "ops/sizes.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {
namespace {

// Runs of `run` elements, each `count` times in a row.
Tensor repeat_runs(const Tensor& x, const Dim& run, const Dim& runs, const Dim& count, const Shape& result) {
  return reshape(broadcast_to(reshape(x, {runs, 1, run}), {runs, count, run}), result);
}

void require_count(const NamedCall& call, const Dim& count) {
  if (count < 0) call.fail(fmt::format("{} repeats", to_string(count)), "at least 0");
}

}  // namespace

Tensor tile(const Tensor& x, const std::vector<Dim>& repeats) {
  const NamedCall call("tile", x);
  for (const Dim& count : repeats) require_count(call, count);
  const Shape from = x.shape();
  std::vector<Dim> sizes(from.begin(), from.end());
  if (sizes.size() < repeats.size()) sizes.insert(sizes.begin(), repeats.size() - sizes.size(), 1);
  Shape shape{std::span<const Dim>(sizes)};
  Tensor result = reshape(x, shape);
  // The last axis first: the early steps are the small ones.
  const int skipped = shape.rank() - static_cast<int>(repeats.size());
  for (int axis = shape.rank() - 1; axis >= skipped; --axis) {
    const Dim& count = repeats[axis - skipped];
    if (count.same_as(1)) continue;
    const Dim run = count_between(shape, axis, shape.rank()), runs = count_between(shape, 0, axis);
    shape[axis] = shape[axis] * count;
    result = repeat_runs(result, run, runs, count, shape);
  }
  return result;
}

Tensor repeat(const Tensor& x, const Dim& count, RepeatOptions options) {
  const NamedCall call("repeat", x);
  require_count(call, count);
  if (!options.axis) return repeat(reshape(x, {x.shape().count()}), count, {.axis = 0});
  const int axis = call.axis(*options.axis);
  Shape shape = x.shape();
  const Dim run = count_between(shape, axis + 1, shape.rank()), runs = count_between(shape, 0, axis + 1);
  shape[axis] = shape[axis] * count;
  return repeat_runs(x, run, runs, count, shape);
}

}  // namespace anyshape
