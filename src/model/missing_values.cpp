// Looking for NaN.
#include "model/missing_values.h"

#include "nn/network.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::model {
namespace {

bool accepts_missing(const AnyLayer& network, size_t input) {
  const auto* const functional = dynamic_cast<const nn::FunctionalNetwork*>(network.layer().get());
  return functional != nullptr ? functional->accepts_missing(input) : network.accepts_missing();
}

bool has_missing(const Tensor& tensor) { return is_floating(tensor.dtype()) && any(is_nan(tensor.values())).item<bool>(); }

// How many NaN there are along an axis of the values; the others are summed.
std::vector<int64_t> counts_along(const Tensor& values, int kept) {
  std::vector<int64_t> axes;
  for (int axis = 0; axis < values.rank(); ++axis) {
    if (axis != kept) axes.push_back(axis);
  }
  const Tensor counts = cast(is_nan(values), Dtype::i64);
  return (axes.empty() ? counts : sum(counts, {.axes = axes})).to_vector<int64_t>();
}

// "column 3 has 12 NaN, 2 more columns have some": of the last axis; a list of single values has no columns.
std::string columns_text(const Tensor& tensor) {
  const Tensor values = tensor.values();
  if (values.rank() < 2) return fmt::format("{} NaN", count_nonzero(is_nan(values)).item<int64_t>());
  const std::vector<int64_t> counts = counts_along(values, values.rank() - 1);
  const auto first = std::ranges::find_if(counts, [](int64_t count) { return count > 0; });
  const auto others = std::ranges::count_if(first + 1, counts.end(), [](int64_t count) { return count > 0; });
  return fmt::format("column {} has {} NaN{}", first - counts.begin(), *first,
                     others == 0 ? "" : fmt::format(", {} more column{} some", others, others == 1 ? " has" : "s have"));
}

int64_t first_row(const Tensor& tensor) {
  const std::vector<int64_t> counts = counts_along(tensor.values(), 0);
  const auto place = std::ranges::find_if(counts, [](int64_t count) { return count > 0; }) - counts.begin();
  return tensor.is_ragged() ? row_ids(tensor).to_vector<int64_t>()[static_cast<size_t>(place)] : place;
}

}  // namespace

void require_present(const AnyLayer& network, const char* what, const std::vector<Tensor>& x, std::optional<int64_t> first_element) {
  for (size_t input = 0; input < x.size(); ++input) {
    if (accepts_missing(network, input) || !has_missing(x[input])) continue;
    const std::string which = x.size() == 1 ? "the inputs hold" : fmt::format("input {} holds", input);
    const std::string element = first_element ? fmt::format(" from element {} on", *first_element + first_row(x[input])) : "";
    throw DataError(
        fmt::format("{}: {} missing values{}: {}; expected numbers. Fill them with FillMissing as the first layer, or drop the rows.", what,
                    which, element, columns_text(x[input])));
  }
}

}  // namespace anyshape::model
