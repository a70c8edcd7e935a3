// Gradients of the movement ops against finite differences, first and second order.
#include "autodiff/finite_differences.h"

namespace anyshape {
namespace {

TEST(MovementGradients, slices_with_steps) {
  const std::vector<Tensor> x = {sample({5, 4}, 1)};
  check_gradients([](const auto& in) { return slice(in[0], {{.begin = 1, .step = 2}}); }, x);
  check_gradients([](const auto& in) { return slice(in[0], {{.step = -1}, {.begin = 3, .end = 0, .step = -2}}); }, x);
  check_gradients([](const auto& in) { return slice(in[0], {{4, 1}}) * 2.0; }, x);
  check_gradients([](const auto& in) { return flip(in[0], {1}); }, x);
  check_gradients([](const auto& in) { return roll(in[0], 2, {.axis = 0}); }, x);
  check_gradients([](const auto& in) { return roll(in[0], -3); }, x);
}

TEST(MovementGradients, parts_and_what_is_put_together) {
  const std::vector<Tensor> x = {sample({2, 6}, 1)}, pair = {sample({2, 3}, 1), sample({2, 3}, 2)};
  check_gradients([](const auto& in) { return stack({in[0], in[1], in[0]}, {.axis = 1}); }, pair);
  check_gradients([](const auto& in) { return stack({in[0], in[1]}, {.axis = -1}); }, pair);
  check_gradients([](const auto& in) { return split(in[0], 3, {.axis = 1})[1] * split(in[0], {2}, {.axis = 1})[0]; }, x);
  check_gradients([](const auto& in) { return unstack(in[0])[1] * unstack(in[0])[0]; }, x);
  check_gradients([](const auto& in) { return squeeze(expand_dims(in[0], 1), {1}); }, x);
  check_gradients([](const auto& in) { return moveaxis(in[0], 0, 1); }, x);
}

TEST(MovementGradients, padding) {
  const std::vector<Tensor> x = {sample({3, 4}, 1)};
  check_gradients([](const auto& in) { return pad(in[0], {{1, 2}, {0, 1}}); }, x);
  check_gradients([](const auto& in) { return pad(in[0], {{1, 2}}, {.value = in[1]}); }, {sample({2, 2}, 1), sample({}, 2)});
  for (const PadMode mode : {PadMode::Edge, PadMode::Reflect, PadMode::Symmetric}) {
    check_gradients([&](const auto& in) { return pad(in[0], {{1, 2}, {3, 0}}, {.mode = mode}); }, x);
    check_second_order([&](const auto& in) { return pad(in[0], {{1, 2}, {1, 0}}, {.mode = mode}); }, x);
  }
  check_second_order([](const auto& in) { return pad(in[0], {{1, 2}}, {.value = in[1]}); }, {sample({2, 2}, 1), sample({}, 2)});
}

TEST(MovementGradients, repetition) {
  const std::vector<Tensor> x = {sample({2, 3}, 1)};
  check_gradients([](const auto& in) { return tile(in[0], {2, 1, 3}); }, x);
  check_gradients([](const auto& in) { return repeat(in[0], 3, {.axis = 0}); }, x);
  check_gradients([](const auto& in) { return repeat(in[0], 2); }, x);
  check_gradients([](const auto& in) { return meshgrid({in[0], in[1]})[0] * meshgrid({in[0], in[1]})[1]; },
                  {sample({3}, 1), sample({2}, 2)});
  check_gradients([](const auto& in) { return full_like(in[0], in[1]) * in[0]; }, {sample({3}, 1), sample({}, 2)});
}

TEST(MovementGradients, diagonals_and_triangles) {
  const std::vector<Tensor> matrix = {sample({3, 4}, 1)}, vector = {sample({3}, 1)};
  for (const int64_t offset : {-1, 0, 2}) {
    check_gradients([&](const auto& in) { return diag(in[0], {.offset = offset}); }, matrix);
    check_gradients([&](const auto& in) { return diag(in[0], {.offset = offset}); }, vector);
    check_gradients([&](const auto& in) { return tril(in[0], {.offset = offset}); }, matrix);
    check_gradients([&](const auto& in) { return triu(in[0], {.offset = offset}); }, matrix);
    check_second_order([&](const auto& in) { return diag(in[0], {.offset = offset}); }, matrix);
    check_second_order([&](const auto& in) { return diag(in[0], {.offset = offset}); }, vector);
  }
}

TEST(MovementGradients, second_order) {
  const std::vector<Tensor> x = {sample({4, 2}, 1)};
  check_second_order([](const auto& in) { return reshape(in[0], {2, -1}); }, x);
  check_second_order([](const auto& in) { return transpose(in[0]); }, x);
  check_second_order([](const auto& in) { return broadcast_to(in[0], {2, 4, 2}); }, x);
  check_second_order([](const auto& in) { return slice(in[0], {{.step = -2}, {1}}); }, x);
  check_second_order([](const auto& in) { return stack({in[0], in[0]}, {.axis = 1}); }, x);
  check_second_order([](const auto& in) { return tile(in[0], {2, 2}); }, x);
  check_second_order([](const auto& in) { return repeat(in[0], 2, {.axis = 1}); }, x);
  check_second_order([](const auto& in) { return roll(in[0], 1, {.axis = 0}); }, x);
  check_second_order([](const auto& in) { return tril(in[0]); }, x);
  check_second_order([](const auto& in) { return split(in[0], 2)[1]; }, x);
}

}  // namespace
}  // namespace anyshape
