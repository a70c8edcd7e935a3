// The list of every op, one family after the other: an op stands here once.
#include "ops/all_ops.h"

#include <algorithm>

namespace anyshape {

extern const OpDef gelu_op, seeded_uniform_op, scatter_update_op;
extern const OpDef bitwise_and_op, bitwise_or_op, bitwise_xor_op, bitwise_not_op, left_shift_op, right_shift_op, bitcast_op;
extern const OpDef convolution_op, convolution_input_gradient_op, convolution_kernel_gradient_op;
extern const OpDef max_pool_op, max_pool_gradient_op, max_pool_pick_op, average_pool_op, average_pool_gradient_op;
extern const OpDef interpolate_op, interpolate_gradient_op;

std::span<const OpDef* const> all_ops() {
  // clang-format off
  static constexpr const OpDef* ops[] = {
      // elementwise
      &negative_op, &abs_op, &sign_op, &sqrt_op, &rsqrt_op, &stop_gradient_op, &floor_op, &ceil_op, &trunc_op, &round_op,
      &exp_op, &expm1_op, &log_op, &log1p_op, &sin_op, &cos_op, &tan_op, &sinh_op, &cosh_op, &tanh_op, &asin_op, &acos_op, &atan_op,
      &erf_op, &sigmoid_op, &softplus_op, &gelu_op,
      &add_op, &subtract_op, &multiply_op, &divide_op, &maximum_op, &minimum_op, &pow_op, &atan2_op, &remainder_op, &floor_divide_op,
      &logical_and_op, &logical_or_op, &logical_xor_op, &logical_not_op, &is_nan_op, &is_inf_op, &is_finite_op, &sign_bit_op,
      &bitwise_and_op, &bitwise_or_op, &bitwise_xor_op, &bitwise_not_op, &left_shift_op, &right_shift_op, &bitcast_op,
      &equal_op, &not_equal_op, &less_op, &less_equal_op,
      &where_op, &cast_op,
      // reduce
      &sum_op, &prod_op, &max_op, &min_op, &any_op, &all_op, &sum_to_op, &indicator_op,
      &argmax_op, &argmin_op, &cumsum_op, &cumprod_op, &linear_recurrence_op,
      // contraction
      &matmul_op, &same_sizes_op,
      // image
      &convolution_op, &convolution_input_gradient_op, &convolution_kernel_gradient_op,
      &max_pool_op, &max_pool_gradient_op, &max_pool_pick_op, &average_pool_op, &average_pool_gradient_op,
      &interpolate_op, &interpolate_gradient_op,
      // attention
      &attention_op, &attention_gradient_op, &segment_attention_op, &segment_attention_gradient_op,
      // movement
      &reshape_op, &transpose_op, &broadcast_to_op, &slice_op, &pad_op, &concat_op, &stack_op,
      &diagonal_op, &diagonal_matrix_op,
      // index
      &take_op, &take_gradient_op, &take_along_axis_op, &take_along_axis_gradient_op, &gather_nd_op, &scatter_op, &scatter_update_op,
      &one_hot_op, &sort_op, &top_k_op, &search_sorted_op, &boolean_mask_op, &nonzero_op, &unique_op,
      // segment
      &row_starts_op, &row_lengths_op, &row_ids_op, &segment_repeat_op, &to_padded_op, &from_padded_op, &packed_rows_op,
      &segment_sum_op, &segment_prod_op, &segment_max_op, &segment_min_op, &segment_any_op, &segment_all_op,
      &segment_argmax_op, &segment_argmin_op, &segment_cumsum_op, &segment_cumprod_op, &segment_recurrence_op,
      &segment_softmax_op, &segment_log_softmax_op, &segment_logsumexp_op, &segment_sort_op, &segment_flip_op, &same_rows_op,
      // source
      &full_op, &arange_op, &size_op, &constant_op,
      // random
      &normal_op, &uniform_op, &truncated_normal_op, &integers_op, &categorical_op, &seeded_uniform_op,
      // control
      &cond_op, &scan_op, &while_op,
  };
  // clang-format on
  return ops;
}

const OpDef* find_op(std::string_view name) {
  const auto found = std::ranges::find(all_ops(), name, [](const OpDef* op) { return op->name; });
  return found == all_ops().end() ? nullptr : *found;
}

}  // namespace anyshape
