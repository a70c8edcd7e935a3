// random::uniform: numbers in [0, 1) as an op; other intervals by arithmetic on it.
#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/all_ops.h"
#include "ops/random/attrs.h"

#include <anyshape/ops.h>
#include <anyshape/random.h>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

namespace anyshape {

constinit const OpDef uniform_op{
    .name = "random::uniform",
    .kind = OpKind::Random,
    .inputs = 0,
    .shape = random_shape,
    .element = [](ElementCall& call) { return loop::uniform_from_words(call.b, random_words(call), call.output.dtype); },
    .attrs = [] { return Attrs(RandomAttrs{}); }};

namespace {

// The last number below `bound`, where `low` + u * `width` may be rounded to more for the greatest u that is drawn; none where it never is. An
// interval without a number has none either: it gives the one that is nearest to it.
template <class Number>
std::optional<double> needed_limit(double low, double bound) {
  const auto nearest = static_cast<Number>(bound);
  const Number last = nearest < bound ? nearest : std::nextafter(nearest, -std::numeric_limits<Number>::infinity());
  const Number greatest = 1 - std::numeric_limits<Number>::epsilon() / 2;
  const Number reached = static_cast<Number>(low) + greatest * static_cast<Number>(bound - low);
  return reached < last || last < low ? std::nullopt : std::optional<double>(last);
}

}  // namespace

Tensor random::uniform(const Shape& shape, UniformOptions options) {
  const NamedCall call("random::uniform");
  const double low = options.low, high = options.high, width = high - low;
  const bool is_wide = options.dtype == Dtype::f64;
  const auto refuse = [&](std::string_view expected) { call.fail_argument(fmt::format("low is {} and high is {}", low, high), expected); };
  if (!(low <= high)) refuse("low <= high");
  if (!(width <= (is_wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max())))
    refuse("bounds whose distance is finite");
  Tensor numbers = bind(uniform_op, {}, RandomAttrs{shape, options.dtype});
  if (width != 1) numbers = numbers * width;
  if (low == 0) return numbers;
  numbers = numbers + low;
  const std::optional<double> limit = is_wide ? needed_limit<double>(low, high) : needed_limit<float>(low, high);
  return limit ? minimum(numbers, *limit) : numbers;
}

}  // namespace anyshape
