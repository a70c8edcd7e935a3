// Functions called under an eager tape: a forward part that keeps what gradients need, and compiled backward parts. The numbers are those of the
// callable run op by op, which other tests hold to finite differences.
#include "function/on_threads.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>

namespace anyshape {
namespace {

using Floats = std::vector<float>;
using Doubles = std::vector<double>;
using Tensors = std::vector<Tensor>;

Tensor numbers(const Shape& shape, double phase) {
  std::vector<double> values(static_cast<size_t>(shape.count().value()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.6 + 0.5 * std::sin(phase + 1.7 * static_cast<double>(i));
  return tensor(values, shape);
}

// The gradients of sum(body(arguments) * weights) by every argument, through a callable.
template <class Callable>
Tensors slopes(const Callable& callable, const Tensors& arguments) {
  GradientTape tape;
  for (const Tensor& each : arguments) tape.watch(each);
  const Tensor y = callable(arguments);
  return tape.gradient(sum(y * numbers(y.shape(), 3)), arguments, {.unreached = Unreached::Zeros});
}

void expect_close(const Tensor& a, const Tensor& b, double tolerance = 1e-12) {
  ASSERT_EQ(to_string(a.shape()), to_string(b.shape()));
  const Doubles left = cast(a, f64).to_vector<double>(), right = cast(b, f64).to_vector<double>();
  for (size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(left[i], right[i], tolerance) << "at " << i;
}

template <class Error, class Call>
void expect_refusal(const Call& call, const std::string& part) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

using Body = std::function<Tensor(Tensors)>;

void expect_same_slopes(const Body& body, const Tensors& arguments) {
  auto compiled = function([body](std::vector<Tensor> in) { return body(std::move(in)); }, {.name = "body"});
  const Tensors own = slopes(compiled, arguments), expected = slopes(body, arguments);
  for (size_t i = 0; i < own.size(); ++i) expect_close(own[i], expected[i]);
  EXPECT_EQ(compiled.stats().traces, 1);
  EXPECT_EQ(compiled.stats().compiles, 2);
}

TEST(UnderTape, a_call_gives_the_numbers_of_its_ops) {
  const std::vector<std::pair<std::string, Body>> bodies = {
      {"chain", [](Tensors in) { return tanh(in[0] * 2.0 + exp(in[1])) / (in[0] + 1.0); }},
      {"products", [](Tensors in) { return relu(matmul(in[0], transpose(in[1]))) + 0.5; }},
      {"layers", [](Tensors in) { return softmax(matmul(gelu(matmul(in[0], transpose(in[1]))), in[1])); }},
      {"reductions", [](Tensors in) { return (in[0] - mean(in[0], {.axes = {1}, .keep_dims = true})) * max(in[1], {.axes = {0}}); }},
      {"parts", [](Tensors in) { return concat({slice(in[0], {{.begin = 1}}), in[1]}, {.axis = 0}) * 3.0; }},
      {"indices", [](Tensors in) { return take(in[0], tensor({1, 0, 1}), {.axis = 0}) * sum(in[1]); }},
      {"itself", [](Tensors in) { return in[0]; }},
      {"stopped", [](Tensors in) { return in[0] * stop_gradient(in[1]) + in[1]; }},
      {"branch", [](Tensors in) { return cond(sum(in[0]) > 0.0, [&] { return in[0] * in[1]; }, [&] { return in[0] - in[1]; }); }},
      {"if", [](Tensors in) { return sum(in[0]) > 100.0 ? in[0] : in[0] * in[1] * 2.0; }},
      {"sizes", [](Tensors in) { return in[0] / cast(size(in[0], 0), f64) + in[1]; }},
  };
  for (const auto& [name, body] : bodies) {
    SCOPED_TRACE(name);
    expect_same_slopes(body, {numbers({2, 3}, 1), numbers({2, 3}, 2)});
  }
}

TEST(UnderTape, a_scan_keeps_its_carries) {
  const Body body = [](Tensors in) {
    return scan([&](Tensor state, Tensor x) { return std::pair(tanh(state * 0.5 + x), state * x); }, zeros({3}, {.dtype = f64}), in[0])
               .second +
           in[1];
  };
  expect_same_slopes(body, {numbers({4, 3}, 1), numbers({4, 3}, 2)});
}

TEST(UnderTape, the_first_trace_serves_every_size) {
  const Variable kernel(cast(numbers({5, 4}, 1), f32), {.name = "kernel"}), bias(zeros({4}), {.name = "bias"});
  const auto body = [&](Tensor x) { return mean(square(relu(matmul(x, kernel) + bias))); };
  auto loss = function(body, {.name = "loss", .signature = {spec(f32, {dim("batch"), 5}, "x")}, .retrace = Retrace::Forbid});
  for (int64_t batch = 1; batch <= 20; ++batch) {
    const Tensor x = cast(numbers({batch, 5}, static_cast<double>(batch)), f32);
    GradientTape tape, other;
    const Tensors own = tape.gradient(loss(x), std::vector<Variable>{kernel, bias});
    const Tensors expected = other.gradient(body(x), std::vector<Variable>{kernel, bias});
    for (size_t i = 0; i < 2; ++i) expect_close(own[i], expected[i], 1e-6);
  }
  EXPECT_EQ(loss.stats().traces, 1);
  EXPECT_EQ(loss.stats().compiles, 2);
  EXPECT_EQ(loss.stats().calls, 20);
  EXPECT_EQ(loss.stats().hits, 19);
}

TEST(UnderTape, results_that_nothing_reaches_cost_nothing_and_spoil_nothing) {
  const Tensor x = tensor({0.0, 4.0});
  auto both = function([](Tensor v) { return std::pair(sum(v * 3.0), sqrt(v)); }, {.name = "both"});
  for (int call = 0; call < 2; ++call) {
    GradientTape tape;
    tape.watch(x);
    EXPECT_EQ(tape.gradient(both(x).first, x).to_vector<double>(), (Doubles{3, 3})) << "sqrt has an infinite slope at 0";
  }
  EXPECT_EQ(both.stats().traces, 1);
  EXPECT_EQ(both.stats().compiles, 2);
}

TEST(UnderTape, several_results_add_up) {
  const Tensor x = tensor({1.0, 2.0});
  auto several = function([](Tensor v) { return std::tuple(sum(v * v), v * 3.0, v, cast(v, i32)); }, {.name = "several"});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const auto [a, b, c, whole] = several(x);
  EXPECT_EQ(whole.to_vector<int32_t>(), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(tape.gradient(Tensors{a, b, c}, Tensors{x})[0].to_vector<double>(), (Doubles{6, 8}));
  EXPECT_EQ(tape.gradient(b, x).to_vector<double>(), (Doubles{3, 3}));
  EXPECT_EQ(tape.gradient(b, x, {.output_gradients = {tensor({2.0, 5.0})}}).to_vector<double>(), (Doubles{6, 15}));
}

TEST(UnderTape, what_a_result_does_not_depend_on_is_not_reached) {
  const Tensor x = tensor({1.0, 2.0}), y = tensor({3.0, 4.0});
  auto apart = function([](Tensor a, Tensor b) { return std::tuple(a * 2.0, b * 3.0, ones({2}, {.dtype = f64})); }, {.name = "apart"});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(y);
  const auto [of_x, of_y, of_none] = apart(x, y);
  expect_refusal<ArgumentError>([&, target = of_x] { tape.gradient(target, y); }, "the target does not depend on");
  expect_refusal<ArgumentError>([&, target = of_none] { tape.gradient(target, x); }, "the target does not depend on");
  EXPECT_EQ(tape.gradient(of_x, Tensors{x, y}, {.unreached = Unreached::Zeros})[1].to_vector<double>(), (Doubles{0, 0}));
}

TEST(UnderTape, arguments_and_results_have_structure) {
  const Tensor x = tensor({1.0, 2.0}), y = tensor({3.0});
  auto scaled =
      function([](std::map<std::string, Tensor> in, std::vector<Tensor> more,
                  double factor) { return std::map<std::string, Tensor>{{"a", in.at("x") * factor}, {"b", more[0] * in.at("x")}}; },
               {.name = "scaled"});
  GradientTape tape;
  tape.watch(x);
  tape.watch(y);
  const std::map<std::string, Tensor> out = scaled({{"x", x}}, {y}, 5.0);
  const Tensors found = tape.gradient(Tensors{out.at("a"), out.at("b")}, Tensors{x, y});
  EXPECT_EQ(found[0].to_vector<double>(), (Doubles{8, 8}));
  EXPECT_EQ(found[1].to_vector<double>(), (Doubles{3}));
}

TEST(UnderTape, ragged_rows_stay_ragged) {
  const Tensor rows = ragged(std::vector<std::vector<double>>{{1, 2, 3}, {}, {4}});
  auto squared = function([](Tensor x) { return x * x; }, {.name = "squared"});
  GradientTape tape;
  tape.watch(rows);
  const Tensor y = squared(rows);
  EXPECT_TRUE(y.is_ragged());
  EXPECT_EQ(tape.gradient(sum(y), rows.values()).to_vector<double>(), (Doubles{2, 4, 6, 8}));
  for (int64_t length : {1, 5}) {
    const Tensor other = ragged(std::vector<std::vector<double>>{std::vector<double>(static_cast<size_t>(length), 3.0), {7}});
    GradientTape again;
    again.watch(other);
    EXPECT_EQ(again.gradient(sum(squared(other)), other.values()).to_vector<double>().back(), 14);
  }
  EXPECT_EQ(squared.stats().traces, 1);
}

TEST(UnderTape, gradients_have_gradients) {
  const Tensor x = numbers({3}, 1), w = numbers({3}, 2);
  const auto body = [](Tensor a, Tensor b) { return sum(sin(a) * b * b + a * a * a); };
  auto compiled = function(body, {.name = "twice"});
  const auto second = [&](const std::function<Tensor(Tensor, Tensor)>& f) {
    GradientTape outer;
    outer.watch(x);
    outer.watch(w);
    GradientTape inner;
    inner.watch(x);
    inner.watch(w);
    const Tensors first = inner.gradient(f(x, w), Tensors{x, w});
    return outer.gradient(Tensors{first[0] * first[0], first[1]}, Tensors{x, w});
  };
  const Tensors own = second(compiled), expected = second(body);
  for (size_t i = 0; i < own.size(); ++i) expect_close(own[i], expected[i]);
  second(compiled);
  EXPECT_EQ(compiled.stats().traces, 1);
  EXPECT_EQ(compiled.stats().compiles, 3) << "forward, its gradient, and the gradient of that";
}

TEST(UnderTape, third_derivatives_are_right) {
  const Tensor x = tensor({1.5});
  auto quartic = function([](Tensor v) { return sum(v * v * v * v); }, {.name = "quartic"});
  GradientTape third, second, first;
  third.watch(x);
  second.watch(x);
  first.watch(x);
  const Tensor y = quartic(x);
  const Tensor once = first.gradient(y, x), twice = second.gradient(once, x);
  EXPECT_NEAR(once.item<double>(), 4 * 1.5 * 1.5 * 1.5, 1e-12);
  EXPECT_NEAR(twice.item<double>(), 12 * 1.5 * 1.5, 1e-12);
  EXPECT_NEAR(third.gradient(twice, x).item<double>(), 24 * 1.5, 1e-12);
}

// The trick of two backward walks: gradients are linear in their seeds.
TEST(UnderTape, a_tape_made_later_follows_the_seeds) {
  const Tensor x = tensor({2.0, 3.0}), direction = tensor({1.0, -1.0}), seed = ones({2}, {.dtype = f64});
  auto cubes = function([](Tensor v) { return v * v * v; }, {.name = "cubes"});
  GradientTape inner;
  inner.watch(x);
  const Tensor y = cubes(x);
  GradientTape outer;
  outer.watch(seed);
  const Tensor along = inner.gradient(y, x, {.output_gradients = {seed}});
  EXPECT_EQ(outer.gradient(along, seed, {.output_gradients = {direction}}).to_vector<double>(), (Doubles{12, -27}));
}

TEST(UnderTape, variables_are_assigned_once_and_followed_as_they_were) {
  const Variable w(tensor({3.0}), {.name = "w"}), count(zeros({}), {.trainable = false, .name = "count"});
  auto step = function(
      [&](Tensor x) {
        count.assign_add(full({}, 1.0F));
        const Tensor y = sum(w * w * x);
        w.assign(w + 1.0);
        return y + sum(w * x);
      },
      {.name = "step"});
  for (int call = 0; call < 3; ++call) {
    GradientTape tape;
    const double value = 3.0 + call;
    const Tensor y = step(tensor({2.0}));
    EXPECT_NEAR(y.item<double>(), 2 * value * value + 2 * (value + 1), 1e-12);
    EXPECT_EQ(tape.watched_variables().size(), 1U);
    EXPECT_NEAR(tape.gradient(y, w).item<double>(), 4 * value + 2, 1e-12) << "what was read before and after the assignment counts as w";
  }
  EXPECT_EQ(count.read().item<float>(), 3.0F);
  EXPECT_EQ(step.stats().traces, 1);
}

TEST(UnderTape, the_backward_part_sees_the_same_draws) {
  const Tensor x = ones({1000}, {.dtype = f64});
  auto noisy = function([](Tensor v) { return v * random::uniform({1000}, {.dtype = f64}); }, {.name = "noisy"});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = noisy(x);
  expect_close(tape.gradient(y, x), y);
}

TEST(UnderTape, sizes_that_depend_on_data) {
  const Tensor x = tensor({1.0, -2.0, 3.0, 4.0});
  const auto body = [](Tensor v) {
    const Tensor kept = take(v, reshape(nonzero(v > 0.0), {-1}));
    return sum(kept * kept) / 2.0;
  };
  auto positive = function(body, {.name = "positive"});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(positive(x), x).to_vector<double>(), (Doubles{1, 0, 3, 4}));
}

TEST(UnderTape, custom_gradients_are_the_users) {
  const auto doubled =
      custom_gradient([](Tensor x) { return x * 1.0; }, [](const CustomGradientCall& call) { return call.output_gradients[0] * 2.0; });
  auto through = function([&](Tensor x) { return doubled(x) * 3.0; }, {.name = "through"});
  const Tensor x = tensor({1.0});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(through(x), x).item<double>(), 6.0);
}

TEST(UnderTape, captured_tensors_are_sources) {
  const Tensor w = tensor({2.0, 3.0}), factor = full({}, 5.0, {.dtype = f64});
  auto product = function([&](Tensor x) { return sum(x * w * factor); }, {.name = "product"});
  const Tensor x = tensor({1.0, 1.0});
  GradientTape tape;
  tape.watch(w);
  tape.watch(factor);
  const Tensors found = tape.gradient(product(x), Tensors{w, factor});
  EXPECT_EQ(found[0].to_vector<double>(), (Doubles{5, 5}));
  EXPECT_EQ(found[1].item<double>(), 5.0);
}

TEST(UnderTape, functions_call_functions) {
  auto inner = function([](Tensor x) { return x * x; }, {.name = "inner"});
  auto outer = function([&](Tensor x) { return sum(inner(x) * x); }, {.name = "outer"});
  const Tensor x = tensor({2.0});
  GradientTape tape;
  tape.watch(x);
  EXPECT_EQ(tape.gradient(outer(x), x).item<double>(), 12.0);
  EXPECT_EQ(inner.stats().traces, 0);
}

TEST(UnderTape, a_call_that_nothing_is_followed_of_runs_the_trace_that_is_there) {
  auto doubled = function([](Tensor x) { return x * 2.0; }, {.name = "doubled"});
  doubled(tensor({1.0}));
  GradientTape tape;
  doubled(tensor({1.0, 2.0}));
  EXPECT_EQ(doubled.stats().traces, 1);
}

TEST(UnderTape, another_set_of_sources_is_another_trace) {
  const Tensor x = tensor({2.0}), y = tensor({3.0});
  auto product = function([](Tensor a, Tensor b) { return a * b; }, {.name = "product"});
  for (const auto& [watched, slope] : {std::pair(x, 3.0), std::pair(y, 2.0), std::pair(x, 3.0)}) {
    GradientTape tape;
    tape.watch(watched);
    EXPECT_EQ(tape.gradient(product(x, y), watched).item<double>(), slope);
  }
  EXPECT_EQ(product.stats().traces, 2);
  EXPECT_NE(product.report().find("the tape follows other arguments"), std::string::npos) << product.report();
}

TEST(UnderTape, a_loop_without_a_limit_runs_op_by_op) {
  auto loop =
      function([](Tensor x) { return sum(while_loop([](Tensor v) { return sum(v) < 100.0; }, [](Tensor v) { return v * 2.0; }, x)); },
               {.name = "loop"});
  const Tensor x = tensor({3.0});
  for (int call = 0; call < 2; ++call) {
    GradientTape tape;
    tape.watch(x);
    EXPECT_EQ(tape.gradient(loop(x), x).item<double>(), 64.0);
  }
  EXPECT_EQ(loop.stats().traces, 0);
}

TEST(UnderTape, an_exception_leaves_nothing_behind) {
  bool throws = true;
  const Variable w(tensor({1.0}), {.name = "w"});
  auto risky = function(
      [&](Tensor x) {
        w.assign(w * 2.0);
        if (throws) throw std::runtime_error("no");
        return sum(x * w);
      },
      {.name = "risky"});
  const Tensor x = tensor({1.0});
  GradientTape tape;
  tape.watch(x);
  EXPECT_THROW(risky(x), std::runtime_error);
  EXPECT_EQ(w.read().item<double>(), 1.0);
  throws = false;
  EXPECT_EQ(tape.gradient(risky(x), x).item<double>(), 2.0);
}

TEST(UnderTape, errors_name_the_function) {
  auto square_of =
      function([](Tensor x) { return matmul(x, x); }, {.name = "square_of", .signature = {spec(f64, {dim("rows"), dim("columns")}, "x")}});
  GradientTape tape;
  const Tensor x = ones({2, 3}, {.dtype = f64});
  tape.watch(x);
  expect_refusal<ShapeError>([&] { square_of(x); }, "square_of");
  expect_refusal<SignatureError>([&] { square_of(ones({2}, {.dtype = f64})); }, "square_of");
}

TEST(UnderTape, kept_values_go_with_the_tape) {
  auto deep = function([](Tensor x) { return sum(tanh(tanh(tanh(x)))); }, {.name = "deep"});
  const Tensor x = ones({100'000}, {.dtype = f64});
  {
    GradientTape tape;
    tape.watch(x);
    tape.gradient(deep(x), x);
  }
  trim_memory();  // blocks that are used again may be larger than asked for
  const int64_t before = memory_use().live_bytes;
  {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = deep(x);
    const int64_t kept = memory_use().live_bytes - before;
    EXPECT_GE(kept, 3 * 800'000) << "each tanh is needed";
    EXPECT_LE(kept, 4 * 1'048'576);
  }
  EXPECT_EQ(memory_use().live_bytes, before);
}

TEST(UnderTape, cheap_values_are_not_kept) {
  auto cheap = function([](Tensor x) { return sum(square(x * 2.0 + 1.0)); }, {.name = "cheap"});
  const Tensor x = ones({100'000}, {.dtype = f64});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = cheap(x);
  EXPECT_TRUE(cheap.report().find("keeps") == std::string::npos) << cheap.report();
  EXPECT_EQ(tape.gradient(y, x).to_vector<double>()[5], 12.0);
}

TEST(UnderTape, the_ledger_tells_of_both_parts) {
  auto loss = function([](Tensor x, Tensor w) { return mean(tanh(matmul(x, w))); },
                       {.name = "loss", .signature = {spec(f64, {dim("batch"), 3}, "x"), spec(f64, {3, 2}, "w")}});
  const Tensor x = numbers({4, 3}, 1), w = numbers({3, 2}, 2);
  GradientTape tape;
  tape.watch(w);
  const Tensor y = loss(x, w);
  EXPECT_NE(loss.report().find("first call under a tape; it follows w, keeps f64[batch, 2]"), std::string::npos) << loss.report();
  EXPECT_EQ(loss.stats().compiles, 1);
  tape.gradient(y, w);
  EXPECT_EQ(loss.stats().compiles, 2);
  EXPECT_NE(loss.report().find("backward part: result 0 by w"), std::string::npos) << loss.report();
  EXPECT_NE(loss.explain().find("backward part: result 0 by w"), std::string::npos) << loss.explain();
}

TEST(UnderTape, threads_ask_for_gradients_side_by_side) {
  const Variable w(tensor({2.0}), {.name = "w"});
  auto loss = function([&](Tensor x) { return sum(w * w * x); }, {.name = "loss"});
  test::on_threads([&](int thread) {
    for (int64_t call = 0; call < 20; ++call) {
      const Tensor x = full({call + 1}, static_cast<double>(thread + 1), {.dtype = f64});
      GradientTape tape;
      EXPECT_EQ(tape.gradient(loss(x), w).item<double>(), 4.0 * (thread + 1) * static_cast<double>(call + 1));
    }
  });
  EXPECT_EQ(loss.stats().traces, 1);
  EXPECT_EQ(loss.stats().compiles, 2);
}

TEST(UnderTape, variables_that_another_tape_does_not_follow_have_a_trace_of_their_own) {
  const Variable w(tensor({2.0}), {.name = "w"}), v(tensor({3.0}), {.name = "v"});
  auto product = function([&](Tensor x) { return sum(w * v * x); }, {.name = "product"});
  const Tensor x = ones({1}, {.dtype = f64});
  for (int round = 0; round < 2; ++round) {
    GradientTape some({.watch_variables = false});
    some.watch(v);
    const Tensor y = product(x);
    EXPECT_EQ(some.gradient(y, v).item<double>(), 2.0);
    GradientTape all;
    EXPECT_EQ(all.gradient(product(x), w).item<double>(), 3.0);
  }
  EXPECT_EQ(product.stats().traces, 2);
}

TEST(UnderTape, gradients_of_a_call_outside_are_refused_inside_a_trace) {
  auto cube = function([](Tensor x) { return sum(x * x * x); }, {.name = "cube"});
  const Tensor x = tensor({2.0});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  const Tensor y = cube(x);
  auto inside = function([&]() { return tape.gradient(y, x); }, {.name = "inside", .check_frozen = false});
  expect_refusal<TraceError>([&] { inside(); }, "gradient: function \"cube\" was called under this tape outside of the trace");
  EXPECT_EQ(tape.gradient(y, x).item<double>(), 12.0);
}

TEST(UnderTape, gradients_of_loops_have_gradients) {
  const Tensor x = numbers({4, 3}, 1);
  const auto body = [](Tensor rows) {
    const auto step = [](Tensor state, Tensor row) { return std::pair(tanh(state * 0.5 + row), relu(state * row - 0.2)); };
    return sum(square(scan(step, zeros({3}, {.dtype = f64}), rows).second));
  };
  auto compiled = function(body, {.name = "loop"});
  const auto second = [&](const std::function<Tensor(Tensor)>& f) {
    GradientTape outer, inner;
    outer.watch(x);
    inner.watch(x);
    return outer.gradient(sum(square(inner.gradient(f(x), x))), x);
  };
  expect_close(second(compiled), second(body), 1e-10);
}

// What is kept, and what layers do: noted masks and logits, rows, draws and averages among them.
TEST(UnderTape, layers_give_the_numbers_of_their_ops) {
  struct Case {
    std::string name;
    Model model;
    Tensor x;
  };
  const Tensor rows = cast(numbers({6, 5}, 1), f32), steps = cast(numbers({2, 4, 3}, 2), f32);
  const Tensor ids = tensor(std::vector<int32_t>{1, 2, 0, 3, 0, 0}, {2, 3});
  const std::vector<Case> cases = {
      {"dense", Sequential(Dense(4, {.activation = "relu"}), LayerNormalization(), Dense(3, {.activation = "softmax"})), rows},
      {"averages", Sequential(BatchNormalization(), Dense(2)), rows},
      {"lstm", Sequential(LSTM(4, {.return_sequences = true}), GRU(3)), steps},
      {"masked", Sequential(Embedding(5, 4, {.mask_zero = true}), LSTM(3), Dense(1, {.activation = "sigmoid"})), ids},
      {"ragged", Sequential(Embedding(5, 4), LSTM(3), Dense(1)), ragged(std::vector<std::vector<int32_t>>{{1, 2, 3}, {}, {4}})},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    each.model(each.x);
    const auto forward = [&](Tensor x) { return each.model(x, {.training = each.name == "averages"}); };
    auto compiled = function(forward, {.name = each.name});
    const std::vector<Variable> weights = each.model.trainable_variables();
    const auto gradients = [&](const std::function<Tensor(Tensor)>& f) {
      GradientTape tape;
      const Tensor y = f(each.x);
      const Tensor target =
          y.shape()[1].value() == 1 && each.name == "masked" ? mean(losses::binary_crossentropy()(ones(y.shape()), y)) : sum(y * y);
      return tape.gradient(target, weights, {.unreached = Unreached::Zeros});
    };
    const Tensors own = gradients(compiled), expected = gradients(forward);
    for (size_t i = 0; i < own.size(); ++i) expect_close(own[i], expected[i], 2e-5);
    EXPECT_EQ(compiled.stats().traces, 1);
    EXPECT_EQ(compiled.stats().compiles, 2);
  }
}

// A loss on probabilities of exactly 0 and 1 has no slope; the logits, noted on the result, have one.
TEST(UnderTape, results_keep_what_layers_noted_on_them) {
  Sequential model(Dense(1, {.activation = "sigmoid", .kernel_initializer = "ones"}));
  const Tensor x = full({4, 3}, -100.0F), target = ones({4, 1});
  model(x);
  auto compiled = function([&](Tensor in) { return model(in); }, {.name = "model"});
  GradientTape tape;
  const Tensor loss = losses::binary_crossentropy()(target, compiled(x));
  EXPECT_EQ(loss.item<float>(), 300.0F);
  EXPECT_EQ(tape.gradient(loss, model.trainable_variables())[0].to_vector<float>(), (Floats{100, 100, 100}));
}

TEST(UnderTape, a_model_learns_in_steps_of_ones_own) {
  Sequential model(Dense(8, {.activation = "tanh"}), Dense(1));
  const Tensor x = cast(numbers({16, 3}, 1), f32), y = sum(x, {.axis = 1, .keep_dims = true});
  model(x);
  auto loss = function([&](Tensor a, Tensor b) { return mean(square(model(a) - b)); }, {.name = "loss"});
  float first = 0, last = 0;
  for (int step = 0; step < 50; ++step) {
    GradientTape tape;
    const Tensor value = loss(x, y);
    (step == 0 ? first : last) = value.item<float>();
    const std::vector<Variable> weights = model.trainable_variables();
    const Tensors gradients = tape.gradient(value, weights);
    for (size_t i = 0; i < weights.size(); ++i) weights[i].assign_sub(gradients[i] * 0.1F);
  }
  EXPECT_LT(last, first / 4);
  EXPECT_EQ(loss.stats().traces, 1);
  EXPECT_EQ(loss.stats().compiles, 2);
}

}  // namespace
}  // namespace anyshape
