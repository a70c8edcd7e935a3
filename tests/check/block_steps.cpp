// Steps on blocks [count, width, width]: reductions over each axis, slices, products and loops side by side, all of one shape.
#include "check/program_steps.h"

#include <anyshape/control.h>
#include <anyshape/ops.h>

namespace anyshape::check {
namespace {

Tensor swap_last(const Tensor& value) { return transpose(value, {0, 2, 1}); }

Tensor binary(ProgramDraft& draft) {
  const Tensor left = draft.block();
  return draft.binary(left, draft.block());
}

Tensor binary_with_sum(ProgramDraft& draft) {
  const Tensor left = draft.block();
  const int64_t axis = draft.random.below(3);
  return draft.binary(left, sum(draft.block(), {.axes = {axis}, .keep_dims = true}) * 0.1f);
}

Tensor add_swapped(ProgramDraft& draft) {
  const Tensor left = swap_last(draft.block());
  return left + draft.block();
}

Tensor concat_of_slices(ProgramDraft& draft) {
  const Tensor first = draft.block();
  const Tensor second = draft.random.chance(50) ? first : draft.block();
  const int64_t axis = draft.random.between(1, 2);
  const int64_t cut = draft.random.between(0, block_width);
  std::vector<SliceRange> before(static_cast<size_t>(axis) + 1);
  std::vector<SliceRange> after = before;
  before.back() = {.begin = 0, .end = cut};
  after.back() = {.begin = cut, .end = block_width};
  const Tensor left = draft.unary(slice(first, before));
  return concat({left, draft.unary(slice(second, after))}, {.axis = axis});
}

Tensor pad_of_slice(ProgramDraft& draft) {
  constexpr int64_t kept = 10;
  const int64_t begin = draft.random.between(0, block_width - kept);
  const Tensor part = slice(draft.block(), {{}, {}, {.begin = begin, .end = begin + kept}});
  return pad(part, {{}, {}, {.before = begin, .after = block_width - kept - begin}}) + draft.block();
}

Tensor sum_of_taken(ProgramDraft& draft) {
  const int64_t axis = draft.random.between(1, 2);
  const Tensor taken = take(draft.block(), draft.indices, {.axis = axis});
  return sum(taken, {.axes = {axis}, .keep_dims = true}) * draft.block() * 0.2f;
}

Tensor add_flat(ProgramDraft& draft) {
  const Tensor flat = reshape(draft.block(), {draft.count, block_width * block_width});
  const Tensor changed = draft.unary(flat);
  return reshape(changed, {draft.count, block_width, block_width}) + draft.block();
}

// An index that stands twice: the diagonal of every matrix beside the matrix itself, and their sum.
Tensor scale_by_diagonal(ProgramDraft& draft) {
  const Tensor value = draft.block(), along = draft.unary(diag(value));
  if (draft.random.chance(50)) return value * expand_dims(along, 1 + draft.random.below(2));
  return expand_dims(along, 1) * reshape(einsum("bii->b", {draft.block()}), {draft.count, 1, 1}) * 0.1f + draft.block();
}

Tensor softmax_of_axis(ProgramDraft& draft) {
  const int64_t axis = draft.random.between(1, 2);
  return softmax(draft.block(), {.axis = axis});
}

Tensor normalize(ProgramDraft& draft) {
  const Tensor value = draft.block();
  const Tensor centered = value - mean(value, {.axes = {2}, .keep_dims = true});
  return centered / sqrt(mean(centered * centered, {.axes = {2}, .keep_dims = true}) + 0.01f);
}

Tensor center_and_sum(ProgramDraft& draft) {
  const Tensor value = draft.block();
  const Tensor centered = value - mean(value, {.axes = {1, 2}, .keep_dims = true});
  return centered * sum(centered, {.axes = {0}}) * 0.1f;
}

Tensor product_of_blocks(ProgramDraft& draft) {
  const Tensor left = draft.block();
  const Tensor right = draft.block();
  return bounded(matmul(draft.random.chance(50) ? swap_last(left) : left, right));
}

Tensor product_with_addend(ProgramDraft& draft) {
  const Tensor product = matmul(draft.block(), draft.weight);
  return bounded(product + draft.block());
}

Tensor through_half(ProgramDraft& draft) {
  const Dtype narrow = draft.random.chance(50) ? f16 : bf16;
  const Tensor rounded = cast(cast(draft.block(), narrow), f32);
  return rounded * draft.block();
}

Tensor sum_over_count(const Tensor& value) { return sum(value, {.axes = {0}}) * 0.1f; }

Tensor scan_over_blocks(ProgramDraft& draft) {
  const Tensor initial = sum_over_count(draft.block());
  const Tensor sequence = draft.block();
  const bool with_product = draft.random.chance(50);
  const bool gives_carry = draft.random.chance(50);
  const auto [last, all] = scan(
      [&](const Tensor& carry, const Tensor& step) {
        const Tensor mixed = with_product ? matmul(carry, draft.weight) * 0.1f : carry;
        const Tensor next = tanh(step + carry * 0.5f + mixed);
        return std::pair(gives_carry ? next : next * step, gives_carry ? carry : next);
      },
      initial, sequence, {.reverse = draft.random.chance(50)});
  return all + last;
}

// A recurrent layer along axis 1, with a gate that is an output, too.
Tensor scan_with_gate(ProgramDraft& draft) {
  const Tensor initial = mean(draft.block(), {.axes = {1}});
  const Tensor sequence = transpose(draft.block(), {1, 0, 2});
  const auto [last, all] = scan(
      [&](const Tensor& carry, const Tensor& step) {
        const Tensor gate = sigmoid(matmul(carry, draft.weight) + step);
        const Tensor next = tanh(gate * step + carry);
        return std::pair(next, std::vector<Tensor>{carry, gate * next});
      },
      initial, sequence, {.reverse = draft.random.chance(50)});
  return transpose(all[0] * 0.5f + all[1], {1, 0, 2}) + expand_dims(last, 1);
}

Tensor scan_with_two_carries(ProgramDraft& draft) {
  using Carry = std::pair<Tensor, Tensor>;
  const Tensor first = sum_over_count(draft.block());
  const Tensor sequence = draft.block();
  // One block of zeros more, so that there is a greatest element where there are no others.
  const Tensor greatest = max(concat({sequence, zeros({1, block_width, block_width})}, {.axis = 0}), {.axes = {0}});
  const auto [last, all] =
      scan([](const Carry& carry, const Tensor& step) { return std::pair(Carry(carry.second, tanh(carry.first + step)), carry.first); },
           Carry(first, greatest), sequence);
  return all + last.first - last.second;
}

Tensor three_times(ProgramDraft& draft) {
  using State = std::pair<Tensor, Tensor>;
  const Tensor initial = draft.block();
  const Tensor addend = draft.block();
  return while_loop([](const State& state) { return state.second < 3; },
                    [&](const State& state) { return State(tanh(state.first + addend), state.second + 1); }, State(initial, full({}, 0)),
                    {.max_iterations = 5})
      .first;
}

Tensor cond_on_sum(ProgramDraft& draft) {
  const Tensor first = draft.block();
  const Tensor second = draft.block();
  return cond(sum(tanh(first)) > 0.37f, [&] { return tanh(first) * second; }, [&] { return first; });
}

}  // namespace

const std::vector<StepKind>& block_steps() {
  using Draft = ProgramDraft;
  static const std::vector<StepKind> kinds{
      {"unary", &Draft::blocks, [](Draft& draft) { return draft.unary(draft.block()); }},
      {"binary", &Draft::blocks, binary},
      {"binary with sum", &Draft::blocks, binary_with_sum},
      {"add swapped", &Draft::blocks, add_swapped},
      {"concat of slices", &Draft::blocks, concat_of_slices},
      {"pad of slice", &Draft::blocks, pad_of_slice},
      {"sum of taken", &Draft::blocks, sum_of_taken},
      {"add flat", &Draft::blocks, add_flat},
      {"scale by diagonal", &Draft::blocks, scale_by_diagonal},
      {"softmax", &Draft::blocks, softmax_of_axis},
      {"normalize", &Draft::blocks, normalize},
      {"center and sum", &Draft::blocks, center_and_sum},
      {"product of blocks", &Draft::blocks, product_of_blocks},
      {"product swapped", &Draft::blocks, [](Draft& draft) { return swap_last(bounded(matmul(draft.block(), draft.weight))); }},
      {"product with addend", &Draft::blocks, product_with_addend},
      {"through half", &Draft::blocks, through_half},
      {"scan over blocks", &Draft::blocks, scan_over_blocks},
      {"scan with gate", &Draft::blocks, scan_with_gate},
      {"scan with two carries", &Draft::blocks, scan_with_two_carries},
      {"three times", &Draft::blocks, three_times},
      {"cond", &Draft::blocks, cond_on_sum},
  };
  return kinds;
}

}  // namespace anyshape::check
