// The rules of GradientTape: what it follows, when it stops, what it refuses.
#include "ops/expect_error.h"

#include <anyshape/error.h>
#include <anyshape/gradient.h>
#include <anyshape/ops.h>

namespace anyshape {
namespace {

using Floats = std::vector<float>;

TEST(Tape, follows_trainable_variables_read_under_it) {
  const Variable w(tensor({1.0F, 2.0F}), {.name = "w"}), b(tensor({5.0F}), {.name = "b"});
  GradientTape tape;
  const std::vector<Tensor> gradients = tape.gradient(sum(w * w + b), std::vector<Variable>{w, b});
  EXPECT_EQ(gradients[0].to_vector<float>(), (Floats{2, 4}));
  EXPECT_EQ(gradients[1].to_vector<float>(), (Floats{2}));
}

TEST(Tape, gives_the_gradient_at_the_value_that_was_read) {
  const Variable w(tensor({3.0F}), {.name = "w"});
  GradientTape tape;
  const Tensor y = w * w;
  w.assign(tensor({100.0F}));
  EXPECT_EQ(tape.gradient(y, w).item<float>(), 6.0F);
}

TEST(Tape, adds_up_over_every_use_and_every_reading) {
  const Variable w(tensor({3.0F}));
  GradientTape tape;
  const Tensor x = w.read();
  EXPECT_EQ(tape.gradient(x * x + w * 4 + x, w).item<float>(), 11.0F);
}

TEST(Tape, seeds_with_ones_and_sums_over_the_target) {
  const Tensor x = tensor({1.0F, 2.0F});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(x * 3, x).to_vector<float>(), (Floats{3, 3}));
}

TEST(Tape, the_target_itself_is_a_source_with_gradient_one) {
  const Tensor x = tensor({1.0F, 2.0F});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(x, x).to_vector<float>(), (Floats{1, 1}));
}

TEST(Tape, gives_gradients_of_results_on_the_way) {
  const Tensor x = tensor({2.0F});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x, z = y * y;
  const std::vector<Tensor> gradients = tape.gradient(z, std::vector<Tensor>{y, x});
  EXPECT_EQ(gradients[0].item<float>(), 8.0F);
  EXPECT_EQ(gradients[1].item<float>(), 32.0F);
}

TEST(Tape, stops_recording_at_gradient_and_serves_once) {
  const Tensor x = tensor({2.0F});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 4.0F);
  expect_error<ArgumentError>(
      [&] { tape.gradient(y, x); },
      "gradient: this tape has given its gradients; expected one call. Make it GradientTape({.persistent = true}) for more.");
}

TEST(Tape, persistent_ones_serve_many_times_and_keep_recording) {
  const Tensor x = tensor({2.0F});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x;
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 4.0F);
  EXPECT_EQ(tape.gradient(y * x, x).item<float>(), 12.0F);
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 4.0F);
}

TEST(Tape, nests_for_second_derivatives) {
  const Tensor x = tensor({3.0F});
  GradientTape outer;
  outer.watch(x);
  GradientTape inner;
  inner.watch(x);
  const Tensor first = inner.gradient(x * x * x, x);
  EXPECT_EQ(first.item<float>(), 27.0F);
  EXPECT_EQ(outer.gradient(first, x).item<float>(), 18.0F);
}

TEST(Tape, may_end_before_one_that_began_later) {
  const Tensor x = tensor({3.0F});
  auto first = std::make_unique<GradientTape>();
  GradientTape second;
  first->watch(x), second.watch(x);
  const Tensor y = x * x;
  first.reset();
  const Tensor z = y * 2;
  EXPECT_EQ(second.gradient(z, x).item<float>(), 12.0F);
}

TEST(Tape, a_call_that_throws_is_not_recorded) {
  const Tensor x = tensor({1.0F, 2.0F});
  GradientTape tape;
  tape.watch(x);
  EXPECT_THROW(x + ones({3}), ShapeError);
  EXPECT_EQ(tape.gradient(x * 2, x).to_vector<float>(), (Floats{2, 2}));
}

TEST(Tape, works_on_no_elements) {
  const Tensor x = zeros({0, 2});
  const Variable w(ones({2, 3}), {.name = "w"});
  GradientTape tape;
  EXPECT_EQ(tape.gradient(mean(matmul(x, w)), w).to_vector<float>(), Floats(6, 0.0F));
}

TEST(Tape, casts_gradients_back_and_does_not_follow_integers) {
  const Variable w(tensor({2.0F}), {.name = "w"});
  GradientTape tape({.persistent = true});
  const Tensor wide = cast(w, f64) * 3.0;
  EXPECT_EQ(tape.gradient(wide, w).dtype(), f32);
  EXPECT_EQ(tape.gradient(wide, w).item<float>(), 3.0F);
  const Tensor rounded = cast(cast(w, i32), f32);
  EXPECT_THROW(tape.gradient(rounded, w), ArgumentError);
}

TEST(Tape, refuses_sources_the_target_does_not_depend_on) {
  const Variable w(tensor({1.0F}), {.name = "w"}), other(tensor({1.0F}), {.name = "other"});
  const Variable fixed(tensor({1.0F}), {.trainable = false, .name = "fixed"});
  GradientTape tape({.persistent = true});
  const Tensor y = w * fixed, x = tensor({1.0F});
  const std::string rule = "; expected sources that it was computed from under this tape. ";
  expect_error<ArgumentError>([&] { tape.gradient(y, other); },
                              "gradient: the target does not depend on variable \"other\"" + rule + "Read it after the tape was made.");
  expect_error<ArgumentError>([&] { tape.gradient(y, fixed); }, "gradient: the target does not depend on variable \"fixed\"" + rule +
                                                                    "It is not trainable, so the tape does not follow it.");
  expect_error<ArgumentError>([&] { tape.gradient(y, x); },
                              "gradient: the target does not depend on source 0" + rule + "Call watch() on it before it is used.");
  EXPECT_EQ(tape.gradient(y, w).item<float>(), 1.0F) << "a refused call leaves a persistent tape usable";
}

TEST(Tape, refuses_targets_and_tensors_without_gradient) {
  GradientTape tape({.persistent = true});
  const Tensor x = tensor({1.0F});
  tape.watch(x);
  expect_error<DtypeError>([&] { tape.gradient(x > 0, x); }, "gradient: the target is b8[1]; expected a floating dtype.");
  expect_error<DtypeError>([&] { tape.watch(tensor({1})); },
                           "watch: the tensor is i32[1]; expected a floating dtype, since others have no gradient.");
  expect_error<ArgumentError>([&] { tape.gradient(Tensor(), x); },
                              "gradient: the target is an empty tensor handle; expected a tensor with a value.");
}

TEST(Tape, value_and_gradients_is_a_tape_in_one_call) {
  const Variable w(tensor({3.0F}), {.name = "w"});
  const auto [value, gradients] = value_and_gradients([&] { return w * w; }, {w});
  EXPECT_EQ(value.item<float>(), 9.0F);
  EXPECT_EQ(gradients[0].item<float>(), 6.0F);
}

}  // namespace
}  // namespace anyshape
