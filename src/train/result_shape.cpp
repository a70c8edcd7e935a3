// A result of [rows, rows] from a target [rows] and a prediction [rows, 1] is a broadcast that nobody meant: its mean would be trained on.
#include "train/result_shape.h"

#include "graph/bind.h"
#include "graph/named_call.h"
#include "ops/contraction/contract.h"
#include "shape/prove.h"
#include "tensor/tensor_impl.h"

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::train {
namespace {

enum class Fit : uint8_t { Yes, No, AtTheCall };

std::optional<bool> are_equal(const Dim& a, const Dim& b) {
  const Facts* const facts = current_interpreter().facts();
  return facts != nullptr ? facts->proves_equal(a, b) : proves_equal(a, b);
}

// An axis may be the prediction's, or 1 where it was reduced and kept. Rows never stand beside rows, and a number never for a size that
// varies, but by accident.
Fit fits(const Dim& got, const Dim& wanted, int axis, const Dim& rows) {
  const std::optional<bool> equal = are_equal(got, wanted);
  if (equal.value_or(false) || (axis > 0 && got.same_as(1))) return Fit::Yes;
  const bool is_never = axis == 0 ? got.is_constant() != wanted.is_constant() : are_equal(got, rows).value_or(false);
  return equal.has_value() || is_never ? Fit::No : Fit::AtTheCall;
}

}  // namespace

Tensor require_result_shape(std::string_view name, const Operands& given, const Tensor& result) {
  if (result.rank() == 0 || given.prediction.rank() == 0) return result;
  const NamedCall call(name, given.target, given.prediction);
  const auto refuse = [&] {
    const bool is_one = std::ranges::all_of(result.shape(), [](const Dim& size) { return size.same_as(1); });
    call.fail(fmt::format("the callable returned {} for target (a) and prediction (b)", describe(result)),
              fmt::format("one number, or one value per row or position: the leading sizes of b. {}",
                          is_one ? "Where it is meant as one number, return reshape(result, {}), which has no axis"
                                 : "Bring both to one shape first, as with squeeze(prediction, {-1}) or expand_dims(target, -1)"));
  };
  const Shape &sizes = result.shape(), &wanted = given.prediction.shape();
  if (result.is_ragged() && !given.prediction.is_ragged()) refuse();
  Shape held;
  std::vector<std::string> names;
  bool is_open = false;
  for (int axis = 0; axis < sizes.rank(); ++axis) {
    const bool is_row = axis < wanted.rank() && wanted[axis].is_ragged();
    held.push_back(sizes[axis]);
    names.push_back(fmt::format("axis {} of the prediction and of what the callable returned", axis));
    if (is_row && (sizes[axis].is_ragged() || sizes[axis].same_as(1))) continue;
    if (is_row || sizes[axis].is_ragged()) refuse();
    const Dim own = axis < wanted.rank() ? wanted[axis] : Dim(1);
    const Fit fit = fits(sizes[axis], own, axis, wanted[0]);
    if (fit == Fit::No) refuse();
    if (fit == Fit::AtTheCall) held[axis] = own, is_open = true;
  }
  return is_open && !result.is_ragged() ? with_sizes(result, held, names) : result;
}

}  // namespace anyshape::train
