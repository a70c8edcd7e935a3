// What the ledger calls things: sizes by the fields they stand in, rows that changed, what a trace holds, and the cure that fits.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

struct Words {
  Tensor ids, labels;
  std::optional<Tensor> weights = {};
  template <class Visitor>
  void visit(Visitor&& v) {
    v("ids", ids);
    v("labels", labels);
    v("weights", weights);
  }
};

struct Named {
  Tensor b;
  template <class Visitor>
  void visit(Visitor&& v) {
    v("b", b);
  }
};

template <class F>
TraceRecord last_of(const F& function) {
  return function.traces().back();
}

TEST(LedgerNames, sizes_have_the_names_of_fields) {
  auto total = function([](Words words, Tensor x) { return sum(words.ids) + sum(words.labels) + sum(x); }, {.name = "total"});
  total({ones({2, 3}), ones({2})}, ones({4}));
  EXPECT_EQ(last_of(total).signature, "(f32[ids0, ids1], f32[labels0], f32[b0])");
  auto lists = function([](std::map<std::string, std::vector<Tensor>> parts) { return sum(parts.at("x")[0]); }, {.name = "lists"});
  lists({{"x", {ones({2}), ones({3})}}, {"y", {ones({4})}}});
  EXPECT_EQ(last_of(lists).signature, "(f32[x0_0], f32[x1_0], f32[y0])");
}

TEST(LedgerNames, names_that_meet_stay_apart) {
  auto both = function([](Named first, Tensor x, Named second) { return sum(first.b) + sum(x) + sum(second.b); }, {.name = "both"});
  both({ones({2})}, ones({3}), {ones({4})});
  EXPECT_EQ(last_of(both).signature, "(f32[b0], f32[argument1_0], f32[c0])");
}

TEST(LedgerNames, another_number_of_rows_or_elements_is_a_size) {
  for (const Shapes shapes : {Shapes::Exact, Shapes::Relax}) {
    auto total = function([](Tensor x) { return sum(x, {.axes = {1}}); }, {.name = "total", .shapes = shapes});
    total(ragged({{1.0f, 2.0f}, {3.0f}, {4.0f, 5.0f}}));
    total(ragged({{1.0f, 2.0f}, {3.0f}, {4.0f}}));
    const TraceRecord last = last_of(total);
    EXPECT_EQ(last.cause, Cause::Size);
    EXPECT_EQ(last.reason, "argument 0: f32[3, (1..2)] of 5 elements became f32[3, (1..2)] of 4 elements (nearest: trace 0)");
    EXPECT_EQ(last.advice.find("compares sizes"), std::string::npos) << last.advice;
  }
}

TEST(LedgerNames, a_size_asked_for_twice_is_told_once) {
  auto asks =
      function([](Tensor x) { return x * static_cast<float>(x.shape()[1].specialize() + x.shape()[1].specialize()); }, {.name = "asks"});
  asks(ones({2, 4}));
  EXPECT_EQ(last_of(asks).specialized, std::vector<std::string>{"a1 == 4"});
}

TEST(LedgerNames, a_value_that_came_has_a_cure_of_its_own) {
  auto total = function([](Words words) { return words.weights ? sum(words.ids * *words.weights) : sum(words.ids); }, {.name = "total"});
  total({ones({2}), ones({2})});
  total({ones({2}), ones({2}), ones({2})});
  EXPECT_EQ(last_of(total).reason, "argument 0 (weights): nothing became a value (nearest: trace 0)");
  EXPECT_EQ(
      last_of(total).advice,
      "A value that is there in some calls and not in others is another trace: give it to all of them (weights of 1 count as none), or "
      "make a function for each.");
}

std::string held_lines(const std::string& report) {
  std::string lines;
  bool is_held = false;
  for (size_t begin = 0; begin < report.size();) {
    const size_t end = report.find('\n', begin);
    const std::string line = report.substr(begin, end - begin);
    if (line.starts_with("         holds")) {
      is_held = true;
    } else if (!line.starts_with("                     ")) {
      is_held = false;
    }
    if (is_held) lines += line.substr(21) + "\n";
    begin = end + 1;
  }
  return lines;
}

TEST(LedgerNames, what_a_trace_holds_is_a_line_per_layer) {
  const Sequential model(Dense(4), Dense(2));
  const Tensor table = ones({3, 2});
  auto score = function([&](Tensor x) { return model(x) + sum(table, {.axes = {0}}); }, {.name = "score"});
  score(ones({5, 3}));
  EXPECT_EQ(held_lines(score.report()),
            "f32[3, 2]\n"
            "sequential/dense  kernel: f32[3, 4], bias: f32[4]\n"
            "sequential/dense_1  kernel: f32[4, 2], bias: f32[2]\n")
      << score.report();
}

TEST(LedgerNames, many_layers_are_folded) {
  Sequential model;
  for (int i = 0; i < 14; ++i) model.add(Dense(2));
  auto score = function([&](Tensor x) { return model(x); }, {.name = "score"});
  score(ones({5, 2}));
  const std::string lines = held_lines(score.report());
  EXPECT_EQ(std::ranges::count(lines, '\n'), 11) << lines;
  EXPECT_TRUE(lines.ends_with("and 4 more\n")) << lines;
}

}  // namespace
}  // namespace anyshape::test
