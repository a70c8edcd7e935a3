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
  const Variable w(tensor({1.0F}), {.name = "w"}), other(tensor({1.0F}), {.name = "other"}), nameless(tensor({1.0F}));
  const Variable fixed(tensor({1.0F}), {.trainable = false, .name = "fixed"});
  const auto text = [](const std::string& source, const std::string& advice) {
    return "gradient: the target does not depend on " + source + "; expected sources that it was computed from under this tape. " + advice +
           " Ask for zeros with {.unreached = as::Unreached::Zeros}.";
  };
  const Tensor x = tensor({1.0F});
  expect_error<ArgumentError>([&] { GradientTape().gradient(w * 1, other); },
                              text("variable \"other\"", "Read it after the tape was made."));
  expect_error<ArgumentError>([&] { GradientTape().gradient(w * 1, {w, nameless}); },
                              text("source 1 (a variable without name)", "Read it after the tape was made."));
  expect_error<ArgumentError>([&] { GradientTape().gradient(w * fixed, fixed); },
                              text("variable \"fixed\"", "It is not trainable: call watch() on it before it is read."));
  expect_error<ArgumentError>([&] { GradientTape({.watch_variables = false}).gradient(w * 1, w); },
                              text("variable \"w\"", "This tape follows only what watch() names."));
  expect_error<ArgumentError>([&] { GradientTape().gradient(w * 1, x); }, text("source 0", "Call watch() on it before it is used."));

  GradientTape tape({.persistent = true});
  const Tensor y = w * w;
  EXPECT_THROW(tape.gradient(y, other), ArgumentError);
  const Tensor slope = tape.gradient(y, w);
  EXPECT_EQ(slope.item<float>(), 2.0F) << "a refused call leaves a persistent tape usable";
  expect_error<ArgumentError>([&] { tape.gradient(slope, w); },
                              text("variable \"w\"",
                                   "Read it after the tape was made. A tape does not record its own gradient(): for second derivatives ask "
                                   "another one that was made before it."));
}

TEST(Tape, tells_which_variables_it_met_and_leaves_unreached_ones_undefined) {
  const Variable w(ones({2}), {.name = "w"}), other(ones({3}), {.name = "other"}), unread(ones({4})),
      fixed(ones({2}), {.trainable = false});
  GradientTape tape;
  const Tensor ignored = other * 2, y = sum(w * fixed * w.read());
  const std::vector<Tensor> gradients = tape.gradient(y, {w, other, unread}, {.unreached = Unreached::Undefined});
  EXPECT_EQ(gradients[0].to_vector<float>(), (Floats{2, 2}));
  EXPECT_FALSE(gradients[1].defined());
  EXPECT_FALSE(gradients[2].defined());
  const std::vector<WatchedVariable> met = tape.watched_variables();
  ASSERT_EQ(met.size(), 2U);
  EXPECT_EQ(met[0].id, other.id());
  EXPECT_EQ(met[1].spec.name, "w");
  EXPECT_EQ(to_string(met[1].spec), "f32[2]");
}

TEST(Tape, takes_sources_behind_flat_ops_for_unreached_where_they_are_to_be_undefined) {
  const Variable w(tensor({1.5F}), {.name = "w"}), v(tensor({2.5F}), {.name = "v"});
  const auto gradients = [&](Unreached unreached) {
    GradientTape tape;
    return tape.gradient(sum(round(w) * sign(w) + round(v) * v), {w, v}, {.unreached = unreached});
  };
  const std::vector<Tensor> undefined = gradients(Unreached::Undefined), zeros = gradients(Unreached::Error);
  EXPECT_FALSE(undefined[0].defined());
  EXPECT_EQ(undefined[1].to_vector<float>(), Floats{2});  // the other way to v has a gradient
  EXPECT_EQ(zeros[0].to_vector<float>(), Floats{0});
  EXPECT_EQ(zeros[1].to_vector<float>(), Floats{2});
}

TEST(Tape, gives_zeros_for_unreached_sources_on_request) {
  const Variable w(tensor({1.0F}), {.name = "w"}), other(ones({2, 3}, {.dtype = f64}), {.name = "other"});
  const Variable fixed(tensor({1.0F}), {.trainable = false, .name = "fixed"});
  const Tensor x = ones({0, 2});
  GradientTape tape({.persistent = true});
  const Tensor y = w * fixed;
  const std::vector<Tensor> gradients = tape.gradient(y, {w, other, fixed}, {.unreached = Unreached::Zeros});
  EXPECT_EQ(gradients[0].to_vector<float>(), Floats{1});
  EXPECT_EQ(gradients[1].to_vector<double>(), std::vector<double>(6, 0.0));
  EXPECT_EQ(gradients[2].to_vector<float>(), Floats{0});
  EXPECT_TRUE(tape.gradient(y, x, {.unreached = Unreached::Zeros}).shape() == Shape({0, 2}));
  EXPECT_EQ(tape.gradient(ones({2}), w, {.unreached = Unreached::Zeros}).to_vector<float>(), Floats{0}) << "no target is reached";
}

TEST(Tape, watches_variables_that_it_is_asked_to) {
  const Variable fixed(tensor({3.0F}), {.trainable = false, .name = "fixed"}), w(tensor({2.0F}), {.name = "w"});
  GradientTape tape({.watch_variables = false});
  tape.watch(fixed);
  const std::vector<Tensor> gradients = tape.gradient(w * fixed, {w, fixed}, {.unreached = Unreached::Zeros});
  EXPECT_EQ(gradients[0].item<float>(), 0.0F);
  EXPECT_EQ(gradients[1].item<float>(), 2.0F);
  const auto [value, asked] = value_and_gradients([&] { return w * fixed; }, {fixed});
  EXPECT_EQ(asked[0].item<float>(), 2.0F) << "a variable that is named is watched";
}

TEST(Tape, takes_output_gradients_and_several_targets) {
  const Tensor x = tensor({1.0F, 2.0F});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = x * x, z = sum(x);
  EXPECT_EQ(tape.gradient(y, x, {.output_gradients = {tensor({1.0F, 10.0F})}}).to_vector<float>(), (Floats{2, 40}));
  EXPECT_EQ(tape.gradient({y, z}, std::vector<Tensor>{x})[0].to_vector<float>(), (Floats{3, 5}));
  EXPECT_EQ(tape.gradient({y, z, z}, std::vector<Tensor>{x}, {.output_gradients = {y, 2, 3}})[0].to_vector<float>(), (Floats{7, 21}));
  expect_error<ArgumentError>([&] { tape.gradient(y, x, {.output_gradients = {y, y}}); },
                              "gradient: got 2 output gradients for 1 targets; expected one each, or none.");
  expect_error<ShapeError>([&] { tape.gradient(y, x, {.output_gradients = {ones({3})}}); },
                           "gradient: output gradient 0 is f32[3]; expected f32[2], as target 0.");
  expect_error<DtypeError>(
      [&] { tape.gradient(y, x, {.output_gradients = {tensor({1, 2})}}); },
      "gradient: output gradient 0 is i32[2]; expected f32[2], as target 0. Cast it with as::cast(gradient, as::f32).");
  expect_error<ArgumentError>([&] { tape.gradient(y, x, {.output_gradients = {Tensor()}}); },
                              "gradient: output gradient 0 is an empty tensor handle; expected a tensor with a value.");
}

TEST(Tape, records_nothing_while_paused) {
  const Variable w(tensor({2.0F}), {.name = "w"});
  GradientTape tape({.persistent = true});
  const Tensor before = w * 3;
  Tensor metric;
  {
    const GradientTape::Pause pause = tape.pause();
    metric = w * before;
  }
  EXPECT_EQ(tape.gradient(before + metric, w).item<float>(), 3.0F);
  expect_error<ArgumentError>(
      [&] { tape.gradient(metric, w); },
      "gradient: the target does not depend on variable \"w\"; expected sources that it was computed from under this "
      "tape. Read it after the tape was made. The tape was paused for a while: what was computed then counts as "
      "given. Ask for zeros with {.unreached = as::Unreached::Zeros}.");
}

TEST(Tape, a_pause_may_outlive_its_tape) {
  const Tensor x = tensor({2.0F});
  auto tape = std::make_unique<GradientTape>();
  const GradientTape::Pause pause = tape->pause();
  tape.reset();
  EXPECT_EQ((x * x).item<float>(), 4.0F);
}

TEST(Tape, refuses_targets_and_tensors_without_gradient) {
  GradientTape tape({.persistent = true});
  const Tensor x = tensor({1.0F});
  tape.watch(x);
  expect_error<DtypeError>([&] { tape.gradient(x > 0, x); }, "gradient: the target is b8[1]; expected a floating dtype.");
  expect_error<DtypeError>([&] { tape.watch(tensor({1})); },
                           "watch: the tensor is i32[1]; expected a floating dtype, since others have no gradient.");
  const Variable count(tensor({1}), {.name = "count"});
  expect_error<DtypeError>([&] { tape.watch(count); },
                           "watch: variable \"count\" is i32[1]; expected a floating dtype, since others have no gradient.");
  expect_error<DtypeError>(
      [&] { tape.gradient(x * 1, count); },
      "gradient: variable \"count\" is i32[1]; expected a floating dtype, since others have no gradient. Cast it before "
      "it is used.");
  expect_error<DtypeError>(
      [&] { tape.gradient(x * 1, tensor({1, 2})); },
      "gradient: source 0 is i32[2]; expected a floating dtype, since others have no gradient. Cast it before it is used.");
  expect_error<ArgumentError>([&] { tape.watch(Tensor()); },
                              "watch: the tensor is an empty tensor handle; expected a tensor with a value.");
  expect_error<ArgumentError>([&] { tape.gradient(Tensor(), x); },
                              "gradient: the target is an empty tensor handle; expected a tensor with a value.");
}

TEST(Tape, value_and_gradients_is_a_tape_in_one_call) {
  const Variable w(tensor({3.0F}), {.name = "w"});
  const auto [value, gradients] = value_and_gradients([&] { return w * w; }, {w});
  EXPECT_EQ(value.item<float>(), 9.0F);
  EXPECT_EQ(gradients[0].item<float>(), 6.0F);
}

TEST(Tape, follows_a_host_number_into_f64_with_all_its_digits) {
  GradientTape tape({.persistent = true});
  const Tensor x = full({3}, 0.1), y = tensor({2.0, 3.0, 4.0});
  tape.watch(x);
  const Tensor wide = cast(x, f64);
  EXPECT_EQ(wide.to_vector<double>(), (std::vector<double>{0.1, 0.1, 0.1}));
  EXPECT_EQ(tape.gradient(sum(wide * 2.0), x).to_vector<float>(), (std::vector<float>{2, 2, 2}));
  EXPECT_EQ(tape.gradient(sum(x * y), x).to_vector<float>(), (std::vector<float>{2, 3, 4}));
}

}  // namespace
}  // namespace anyshape
