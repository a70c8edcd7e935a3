// Steps on matrices with the rows, columns and scalars that are broadcast to them and that reductions make of them.
#include "check/program_steps.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

namespace anyshape::check {
namespace {

Tensor any_value(ProgramDraft& draft) {
  switch (draft.random.below(6)) {
    case 0: return draft.row();
    case 1: return draft.column();
    case 2: return draft.scalar();
    default: return draft.matrix();
  }
}

Tensor binary_with_any(ProgramDraft& draft) {
  const Tensor left = draft.matrix();
  return draft.binary(left, any_value(draft));
}

Tensor binary_of_rows(ProgramDraft& draft) {
  const Tensor left = draft.row();
  return bounded(draft.binary(left, draft.random.chance(50) ? draft.row() : draft.scalar()));
}

Tensor binary_of_columns(ProgramDraft& draft) {
  const Tensor left = draft.column();
  return bounded(draft.binary(left, draft.random.chance(50) ? draft.column() : draft.scalar()));
}

Tensor mean_of_rows(const Tensor& value) { return mean(value, {.axes = {1}, .keep_dims = true}); }

Tensor layer_norm(ProgramDraft& draft) {
  const Tensor value = draft.matrix();
  const Tensor scale = draft.row();
  const Tensor offset = draft.row();
  const Tensor centered = value - mean_of_rows(value);
  return centered * (1.0f / sqrt(mean_of_rows(centered * centered) + 0.01f)) * scale + offset;
}

Tensor max_of_rows(ProgramDraft& draft) {
  const Tensor greatest = max(draft.matrix(), {.axes = {1}, .keep_dims = true});
  const float factor = draft.random.chance(50) ? 1.0f : 0.0f;
  return bounded(greatest * factor + draft.column());
}

Tensor product_with_addend(ProgramDraft& draft) {
  const Tensor product = matmul(draft.matrix(), draft.weight);
  return bounded(product + binary_with_any(draft));
}

Tensor product_with_own_transpose(ProgramDraft& draft) {
  const Tensor value = draft.matrix();
  const Tensor similarity = matmul(value, transpose(value));
  return bounded(matmul(similarity, draft.matrix()) * 0.05f);
}

std::pair<Tensor, Tensor> cut_columns(const Tensor& left, const Tensor& right, int64_t at) {
  return {slice(left, {{}, {.begin = 0, .end = at}}), slice(right, {{}, {.begin = at, .end = matrix_width}})};
}

Tensor concat_of_slices(ProgramDraft& draft) {
  const Tensor first = draft.matrix();
  const Tensor second = draft.matrix();
  const auto [left, right] = cut_columns(first, second, draft.random.between(0, matrix_width));
  const Tensor new_left = draft.unary(left);
  return concat({new_left, draft.unary(right)}, {.axis = 1});
}

Tensor sums_of_slices(ProgramDraft& draft) {
  const Tensor value = draft.matrix();
  const auto [left, right] = cut_columns(value, value, draft.random.between(0, matrix_width));
  return bounded(sum(left * left) - sum(sigmoid(right)));
}

Tensor unary_of_flat(ProgramDraft& draft) {
  const Tensor flat = reshape(draft.matrix(), {draft.count * draft.width});
  return reshape(draft.unary(flat), {draft.count, draft.width});
}

// The last carry is one more row of the program.
Tensor scan_over_rows(ProgramDraft& draft) {
  const Tensor sequence = draft.matrix();
  const Tensor initial = draft.row();
  const Tensor scale = draft.row();
  const bool reverse = draft.random.chance(50);
  const auto [last, all] = scan(
      [&](const Tensor& carry, const Tensor& step) {
        const Tensor next = tanh(carry + step * scale);
        return std::pair(next, reverse ? carry : next * carry);
      },
      initial, sequence, {.reverse = reverse});
  draft.rows.push_back(last);
  return all;
}

Tensor scan_with_product(ProgramDraft& draft) {
  const Tensor initial = draft.matrix();
  const Tensor first = draft.matrix();
  const Tensor second = draft.matrix();
  const auto [last, all] = scan(
      [&](const Tensor& carry, const Tensor& step) { return std::pair(tanh(matmul(carry, draft.weight) * 0.3f + step * carry), carry); },
      initial, stack({first, second, first}));
  draft.matrices.push_back(last);
  return bounded(sum(all, {.axes = {0}}));
}

Tensor cond_on_scalar(ProgramDraft& draft) {
  const Tensor condition = draft.scalar() > 0.0137f;
  const Tensor shared = draft.matrix();
  const Tensor first = draft.matrix();
  const Tensor second = draft.matrix();
  return cond(condition, [&] { return tanh(first) + shared; }, [&] { return relu(second) * shared; });
}

}  // namespace

const std::vector<StepKind>& matrix_steps() {
  using Draft = ProgramDraft;
  static const std::vector<StepKind> kinds{
      {"unary", &Draft::matrices, [](Draft& draft) { return draft.unary(draft.matrix()); }},
      {"binary with any", &Draft::matrices, binary_with_any},
      {"binary of rows", &Draft::rows, binary_of_rows},
      {"binary of columns", &Draft::columns, binary_of_columns},
      {"sum of columns", &Draft::rows, [](Draft& draft) { return bounded(sum(draft.matrix(), {.axes = {0}})); }},
      {"sum of rows", &Draft::columns, [](Draft& draft) { return bounded(sum(draft.matrix(), {.axes = {1}, .keep_dims = true})); }},
      {"sum of all", &Draft::scalars, [](Draft& draft) { return bounded(sum(draft.matrix()) * 0.1f); }},
      {"max of rows", &Draft::columns, max_of_rows},
      {"softmax", &Draft::matrices, [](Draft& draft) { return softmax(bounded(draft.matrix()) * 4.0f); }},
      {"layer norm", &Draft::matrices, layer_norm},
      {"product", &Draft::matrices, [](Draft& draft) { return bounded(matmul(draft.matrix(), draft.weight)); }},
      {"product with addend", &Draft::matrices, product_with_addend},
      {"product with own transpose", &Draft::matrices, product_with_own_transpose},
      {"concat of slices", &Draft::matrices, concat_of_slices, true},
      {"sums of slices", &Draft::scalars, sums_of_slices, true},
      {"unary of transpose", &Draft::matrices, [](Draft& draft) { return transpose(draft.unary(transpose(draft.matrix()))); }},
      {"unary of flat", &Draft::matrices, unary_of_flat},
      {"scan over rows", &Draft::matrices, scan_over_rows},
      {"scan with product", &Draft::matrices, scan_with_product},
      {"cond", &Draft::matrices, cond_on_scalar},
  };
  return kinds;
}

}  // namespace anyshape::check
