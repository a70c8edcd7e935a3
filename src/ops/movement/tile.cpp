// tile and repeat: an axis of size 1 beside the one to repeat, broadcast and joined with it again.
#include "graph/named_call.h"
#include "ops/ragged/rules.h"
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

// Repeats are aligned at the last axis: those that meet the rows and the ragged axis are 1.
Tensor tile_ragged(const NamedCall& call, const Tensor& x, const std::vector<Dim>& repeats) {
  const int before = x.rank() - static_cast<int>(repeats.size());
  if (before < 0) refuse_rows(call, fmt::format("{} repeats for {} axes", repeats.size(), x.rank()));
  std::vector<Dim> own;
  for (size_t i = 0; i < repeats.size(); ++i) {
    const int axis = before + static_cast<int>(i);
    if (axis >= 2) {
      own.push_back(repeats[i]);
    } else if (!repeats[i].same_as(1)) {
      values_axis(call, axis);
    }
  }
  return on_values(x, [&](const Tensor& values) { return tile(values, own); });
}

}  // namespace

Tensor tile(const Tensor& x, const std::vector<Dim>& repeats) {
  const NamedCall call("tile", x);
  for (const Dim& count : repeats) require_count(call, count);
  if (x.is_ragged()) return tile_ragged(call, x, repeats);
  const Shape from = x.shape();
  std::vector<Dim> sizes(from.begin(), from.end());
  if (sizes.size() < repeats.size()) sizes.insert(sizes.begin(), repeats.size() - sizes.size(), 1);
  Shape shape{std::span<const Dim>(sizes)};
  Tensor result = reshape(x, shape);
  // The last axis first: the early copies are the small ones.
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
  if (x.is_ragged()) {
    if (!options.axis) refuse_rows(call, "no axis is named");
    const RepeatOptions own{.axis = values_axis(call, call.axis(*options.axis))};
    return on_values(x, [&](const Tensor& values) { return repeat(values, count, own); });
  }
  if (!options.axis) return repeat(reshape(x, {x.shape().count()}), count, {.axis = 0});
  const int axis = call.axis(*options.axis);
  Shape shape = x.shape();
  const Dim run = count_between(shape, axis + 1, shape.rank()), runs = count_between(shape, 0, axis + 1);
  shape[axis] = shape[axis] * count;
  return repeat_runs(x, run, runs, count, shape);
}

}  // namespace anyshape
