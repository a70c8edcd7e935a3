// linspace and eye: made of other sources, so that they fold into what uses them.
#include "graph/named_call.h"
#include "ops/movement/diagonal.h"
#include "ops/source/size.h"
#include "tensor/view.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

namespace anyshape {

// As NumPy: begin + i * gap in f64, and the last number exactly `end`.
Tensor linspace(double begin, double end, const Dim& count, LinspaceOptions options) {
  const NamedCall call("linspace");
  if (!is_floating(options.dtype)) {
    call.fail_dtype(fmt::format("dtype {} cannot hold fractions", to_string(options.dtype)),
                    "a floating dtype. Use as::arange for integers");
  }
  if (count < 0) call.fail(fmt::format("{} numbers", to_string(count)), "at least 0");
  const Dim gaps = max(options.endpoint ? count - 1 : count, 1);
  const Tensor number = arange(count, {.dtype = f64});
  const Tensor gap = make_scalar(f64, end - begin) / size_tensor(gaps, f64);
  const Tensor spread = number * gap + make_scalar(f64, begin);
  return cast(options.endpoint ? where(number == size_tensor(gaps, f64), make_scalar(f64, end), spread) : spread, options.dtype);
}

Tensor eye(const Dim& rows, const EyeOptions& options) {
  const NamedCall call("eye");
  const Dim columns = options.columns.value_or(rows);
  if (rows.is_constant() && columns.is_constant()) static_cast<void>(Shape{rows, columns}.count());  // ShapeError where it overflows
  return diagonal_matrix(ones({diagonal_size(rows, columns, options.offset)}, {.dtype = options.dtype}), rows, columns, options.offset);
}

}  // namespace anyshape
