// The text form of graphs: what print writes, parse reads; what is wrong is refused with its line.
#include "graph/text.h"
#include "graph/graph_text.h"
#include "ops/all_ops.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <random>

namespace anyshape::test {
namespace {

// The text of a traced callable reads back as itself.
template <class Callable, class... Args>
std::string traced_text(Callable callable, const Args&... args) {
  auto traced = function(callable, {.name = "traced"});
  traced(args...);
  return traced.traces()[0].graph;
}

Tensor matrix() { return ones({3, 4}); }
Tensor row() { return ones({1, 4}); }

TEST(GraphText, elementwise_ops_round_trip) {
  const std::string text = traced_text(
      [](Tensor a, Tensor b) {
        const Tensor c = where(a < b, exp(-a), log(tanh(b) + 2.0f));
        return std::vector<Tensor>{c / a, maximum(a, b) * c, cast(a == b, i64), a <= b, a != b, cast(a - b, f64) * 1e-300};
      },
      matrix(), row());
  EXPECT_NE(text.find("check "), std::string::npos) << text;
  EXPECT_NE(text.find("bcast("), std::string::npos) << text;
  EXPECT_EQ(again(text), text);
}

TEST(GraphText, reductions_and_products_round_trip) {
  const std::string text = traced_text(
      [](Tensor a, Tensor b) {
        return std::vector<Tensor>{sum(a), max(a, {.axes = {1}, .keep_dims = true}), mean(b, {.axes = {0}}), softmax(a),
                                   matmul(a, b, {.transpose_b = true})};
      },
      matrix(), matrix());
  EXPECT_NE(text.find("axes=[1], keep_dims=true"), std::string::npos) << text;
  EXPECT_EQ(again(text), text);
}

TEST(GraphText, movement_ops_round_trip) {
  const std::string text = traced_text(
      [](Tensor a, Tensor b) {
        const Shape s = a.shape();
        return std::vector<Tensor>{reshape(a, {-1}),
                                   reshape(a, {s[1], s[0]}),
                                   transpose(a),
                                   broadcast_to(b, {5, s[0], s[1]}),
                                   slice(a, {{.begin = 1}, {.begin = 0, .end = s[1] / 2}}),
                                   concat({a, a, b}, {.axis = 0}),
                                   slice(a, {{-2, -1}})};
      },
      matrix(), matrix());
  EXPECT_NE(text.find(" / 2"), std::string::npos) << text;
  EXPECT_EQ(again(text), text);
}

TEST(GraphText, sources_indices_and_random_numbers_round_trip) {
  const std::string text = traced_text(
      [](Tensor a, Tensor indices) {
        const Dim n = a.shape()[0];
        return std::vector<Tensor>{take(a, indices),
                                   take(a, indices, {.axis = 1}),
                                   full({n, 2}, 0.1f),
                                   arange(n, {.dtype = i64}),
                                   cast(size(a, 1), f32),
                                   random::normal({n}),
                                   random::uniform({2, n}, {.dtype = f64})};
      },
      matrix(), tensor({0, 2}));
  EXPECT_NE(text.find("random::normal("), std::string::npos) << text;
  EXPECT_EQ(again(text), text);
}

TEST(GraphText, gradients_and_variables_round_trip) {
  const Variable weight(ones({4, 2}), {.name = "layer 1: \"w\""});
  const Tensor table = ones({5, 4});
  const std::string text = traced_text(
      [&](Tensor a, Tensor b, Tensor indices) {
        GradientTape tape({.persistent = true});
        tape.watch(a);
        tape.watch(b);
        const Tensor loss = sum(matmul(a * b, weight.read())) + sum(slice(a, {{1}})) + sum(take(a, indices)) + sum(take(table, indices));
        const std::vector<Tensor> gradients = tape.gradient(loss, {a, b});
        weight.assign(weight.read() * 0.5f);
        return gradients;
      },
      matrix(), row(), tensor({0, 2}));
  EXPECT_NE(text.find("\"layer 1: \\\"w\\\"\": f32[4, 2]"), std::string::npos) << text;
  EXPECT_NE(text.find("sum_to("), std::string::npos) << text;
  EXPECT_EQ(again(text), text);
}

TEST(GraphText, keeps_ranges_order_of_symbols_and_guards) {
  const Dim later = dim("later"), even = dim("even", {.min = 2, .max = 8, .multiple_of = 2}), first = dim("first", {.min = 1});
  auto traced = function(
      [](Tensor a, Tensor b) {
        const Dim n = a.shape()[1];
        if (a.shape()[0] > b.shape()[0]) return reshape(a, {a.shape()[0] * n / 2, 2});
        return reshape(a, {-1});
      },
      {.name = "my step", .signature = {spec(f32, {first, even}, "a"), spec(f32, {later}, "b")}});
  traced(ones({5, 4}), ones({3}));
  const std::string text = traced.traces()[0].graph;
  EXPECT_EQ(text.rfind("size later\nsize even: 2..8 multiple of 2\nsize first: 1..\ngraph \"my step\"(%0 a: f32[first, even], ", 0), 0U)
      << text;
  EXPECT_NE(text.find("  guard comparison of sizes: later < first\n"), std::string::npos) << text;
  EXPECT_EQ(again(text), text);
  EXPECT_TRUE(graph::parse(text, find_op)->checks.at(0).retrace);
}

TEST(GraphText, attributes_left_out_have_their_defaults_and_numbers_stay) {
  const auto parsed = graph::parse("graph f(%7 x: f32[n, 4]) {\n\n  %3 = sum(%7) {axes=[ 1 ]} : f32[n]\n  return %3, %7\n}\n", find_op);
  EXPECT_EQ(graph::print(*parsed), "graph f(%7 x: f32[n, 4]) {\n  %3 = sum(%7) {axes=[1], keep_dims=false} : f32[n]\n  return %3, %7\n}\n");
  EXPECT_GT(parsed->add_input(spec(f32, {}))->id, 7) << "a value added later has a number of its own";
}

TEST(GraphText, values_of_constants_survive) {
  for (const char* number : {"0.1", "-0", "1e-300", "inf", "-inf", "nan"}) {
    const std::string text = "graph f() {\n  %0 = constant() {dtype=f64, number=" + std::string(number) +
                             ", integer=-9223372036854775808} : f64[]\n  return %0\n}\n";
    EXPECT_EQ(again(text), text);
  }
}

TEST(GraphText, a_graph_without_anything_round_trips) {
  EXPECT_EQ(again("graph nothing() {\n  return\n}\n"), "graph nothing() {\n  return\n}\n");
}

TEST(GraphText, refuses_what_is_wrong_and_names_the_line) {
  const auto body = [](const std::string& lines) { return "graph f(%0 a: f32[n, 4], %1 b: f32[m, 4]) {\n" + lines + "  return %0\n}\n"; };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "line 0: expected a graph, found the end of the text"},
      {"grape f() {", "line 1: expected \"graph \" at character 1, found \"grape f() {\""},
      {"graph f(%0 a: f31[n]) {", "expected a dtype, found \"f31\""},
      {"graph f(%0: f32[n) {", "line 1: size \"[n)\": expected ']'"},
      {"graph f(%0: f32[1, 1, 1, 1, 1, 1, 1, 1, 1]) {", "rank 9; expected at most 8"},
      {"graph f(%0: f32[n], %0: f32[n]) {", "line 1: %0 is made twice"},
      {"graph f(%99999999999: f32[n]) {", "%99999999999 is beyond %1073741823"},
      {"graph f(%99999999999999999999: f32[n]) {", "expected a number that fits 64 bits"},
      {"size n: 5..2\ngraph f(%0: f32[n]) {", "line 1: dim: \"n\" has min 5 and max 2"},
      {"size n\nsize n\n", "line 2: size n is there twice"},
      {body("  %2 = sub(%0, %0) : f32[n, 4]\n"), "line 2: \"sub\" is no op"},
      {body("  %2 = add(%0) : f32[n, 4]\n"), "line 2: add: got 1 inputs; expected 2"},
      {body("  %2 = add(%0, %3) : f32[n, 4]\n"), "line 2: %3 is used before it is made"},
      {body("  %1 = add(%0, %0) : f32[n, 4]\n"), "line 2: %1 is made twice"},
      {body("  %2 = add(%0, %0) : f32[n, 5]\n"), "line 2: add gives f32[n, 4], not f32[n, 5]"},
      {body("  %2 = add(%0, %0) : f32[m, 4]\n"), "line 2: add gives f32[n, 4], not f32[m, 4]"},
      {body("  %2 = add(%0, %0) : f64[n, 4]\n"), "line 2: add gives f32[n, 4], not f64[n, 4]"},
      {body("  %2 = add(%0, %0) : f32[n, 4], f32[n, 4]\n"), "line 2: 1 values but 2 specs"},
      {body("  %2, %3 = add(%0, %0) : f32[n, 4], f32[n, 4]\n"), "line 2: add gives 1 values, not 2"},
      {body("  %2 = add(%0, %1) : f32[bcast(n, m), 4]\n"), "line 2: add needs a check: n broadcasts with m"},
      {body("  %2 = full(%0) {shape=[q]} : f32[q]\n"), "line 2: size q is in no input and no check"},
      {body("  %2 = sum(%0) {axes=[1], axis=1} : f32[n]\n"), "line 2: sum has no attribute \"axis\""},
      {body("  %2 = sum(%0) {axes=[1], axes=[1]} : f32[n]\n"), "line 2: attribute \"axes\" is there twice"},
      {body("  %2 = sum(%0) {axes=[one]} : f32[n]\n"), "line 2: expected a number for axes, found \"one\""},
      {body("  %2 = sum(%0) {axes=[2]} : f32[n]\n"), "line 2: sum: axis 2"},
      {body("  %2 = sum(%0) {axes=[1], keep_dims=1} : f32[n]\n"), "line 2: expected true or false for keep_dims, found \"1\""},
      {body("  %2 = cast(%0) {dtype=f99} : f32[n, 4]\n"), "line 2: expected a dtype, found \"f99\""},
      {body("  %2 = cast(%0) {dtype=i32} : i32[n, 4]\n  %3 = add(%0, %2) : f32[n, 4]\n"),
       "line 3: add: input 1 is i32; expected it cast to f32"},
      {body("  check add: n m\n"), "line 2: expected two sizes and their relation, found \"n m\""},
      {body("  %2 = add(%0, %0) : f32[n, 4] else\n"), "line 2: size \"[n, 4] else\""},
      {"graph f() {\n", "line 1: expected a node, found the end of the text"},
      {"graph f() {\n  return\n", "line 2: expected \"}\", found the end of the text"},
      {"graph f() {\n  return\n}\nmore", "expected nothing after the graph"},
      {"graph \"f", "line 1: expected \"\"\" at character 9"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_NE(refusal(text).find(wanted), std::string::npos) << text << "\n" << refusal(text);
}

TEST(GraphText, spoilt_text_is_refused_or_read_but_never_worse) {
  const std::string text = traced_text(
      [](Tensor a, Tensor b) {
        const Tensor c = sum(a * b, {.axes = {1}});
        return std::vector<Tensor>{reshape(a, {-1}), transpose(b), concat({c, c}), take(a, tensor({0, 1})), c + full({a.shape()[0]}, 2.0f)};
      },
      matrix(), row());
  std::mt19937 numbers(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string spoilt = text;
    const int changes = 1 + static_cast<int>(numbers() % 3);
    for (int change = 0; change < changes; ++change) {
      const size_t at = numbers() % spoilt.size();
      switch (numbers() % 4) {
        case 0: spoilt.erase(at, 1 + numbers() % 8); break;
        case 1: spoilt.insert(at, 1, "%[](){}=:,-+*/9a\n\"\\"[numbers() % 18]); break;
        case 2: spoilt[at] = static_cast<char>(numbers()); break;
        default: spoilt.insert(at, spoilt.substr(numbers() % spoilt.size(), numbers() % 40)); break;
      }
      if (spoilt.empty()) spoilt = " ";
    }
    try {
      graph::parse(spoilt, find_op);
    } catch (const FormatError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 2000);
}

TEST(GraphText, deep_and_long_text_ends_soon) {
  EXPECT_NE(refusal("graph f(%0: f32[" + std::string(5000, '(') + "n]) {").find("too deeply"), std::string::npos);
  EXPECT_NE(refusal(std::string((size_t{1} << 24) + 1, 'x')).find("characters, more than"), std::string::npos);
  std::string many = "graph f(%0: f32[n]) {\n";
  for (int i = 0; i < 1030; ++i)
    many += "  check add: a" + std::to_string(i) + " * b" + std::to_string(i) + " == c" + std::to_string(i) + " * n\n";
  EXPECT_NE(refusal(many).find("line 1026: more than 1024 checks"), std::string::npos) << refusal(many);
}

TEST(GraphText, refuses_permutations_that_count_from_the_end) {
  const std::string text = refusal("graph f(%0: f32[2, 3]) {\n  %1 = transpose(%0) {permutation=[1, -2]} : f32[3, 2]\n  return %1\n}\n");
  EXPECT_NE(text.find("permutation [1, -2] counts from the end"), std::string::npos) << text;
}

// Ops that come into being as gradients hold their operands to the shape that they add up in.
TEST(GraphText, refuses_gradients_of_another_shape) {
  const auto text = [](const std::string& shape, const std::string& batch) {
    return "graph f(%0: f32[2, 3], %1: i32[2]) {\n  %2 = take_gradient(%0, %1) {axis=0, batch_dims=" + batch + ", shape=[" + shape +
           "]} : f32[" + shape + "]\n  return %2\n}\n";
  };
  EXPECT_EQ(refusal(text("5, 3", "0")), "nothing was thrown");
  EXPECT_NE(refusal(text("5, 1000", "0")).find("cannot be added up in [5, 1000]"), std::string::npos) << refusal(text("5, 1000", "0"));
  EXPECT_NE(refusal(text("5, 3", "-1")).find("cannot be added up"), std::string::npos) << refusal(text("5, 3", "-1"));
  EXPECT_NE(refusal(text("5, 3", "1")).find("cannot be added up"), std::string::npos) << refusal(text("5, 3", "1"));
}

}  // namespace
}  // namespace anyshape::test
