// The list of every op, in the order of the folders.
#include "ops/all_ops.h"

namespace anyshape {

std::span<const OpDef* const> all_ops() {
  static constexpr const OpDef* ops[] = {
      &negative_op, &exp_op,           &log_op,          &tanh_op,       &stop_gradient_op,               // elementwise
      &add_op,      &subtract_op,      &multiply_op,     &divide_op,     &maximum_op,                     //
      &equal_op,    &not_equal_op,     &less_op,         &less_equal_op,                                  //
      &where_op,    &cast_op,                                                                             //
      &sum_op,      &max_op,           &sum_to_op,                                                        // reduce
      &matmul_op,                                                                                         // contraction
      &reshape_op,  &transpose_op,     &broadcast_to_op, &slice_op,      &slice_gradient_op, &concat_op,  // movement
      &take_op,     &take_gradient_op,                                                                    // index
      &full_op,     &arange_op,        &size_op,         &constant_op,                                    // source
      &normal_op,   &uniform_op,                                                                          // random
  };
  return ops;
}

}  // namespace anyshape
