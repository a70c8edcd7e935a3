// Plain structs as arguments, results and states, without a list of their fields.
#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape {

struct PlainOfOneFile {
  Tensor x;
  int count = 1;
};

namespace {

using Floats = std::vector<float>;
using detail::structure::Kind;
using detail::structure::kind_of;

enum class Mode { Sum, Mean };

struct Pair {
  Tensor first, second;
};
struct Batch {
  Tensor ids;
  std::optional<Tensor> weights;
  Pair pair;
  float rate = 0.5f;
  Mode mode = Mode::Sum;
  std::string name = "batch";
  std::vector<Tensor> more;
  std::map<std::string, Tensor> named;
};
template <class T>
struct Twice {
  T value;
  int times = 2;
};
struct Sixteen {
  Tensor a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};
// What cannot be taken apart as it is.
struct WithArray {
  Tensor parts[2];
  Tensor last;
};
struct Derived : Pair {
  Tensor third;
};
struct WithConstructor {
  explicit WithConstructor(const Tensor& given) : x(given) {}
  Tensor x;
};
struct WithConstant {
  const Tensor x;
};
struct WithPointer {
  Tensor* x;
};

static_assert(kind_of<Pair> == Kind::Fields && kind_of<Batch> == Kind::Fields && kind_of<Sixteen> == Kind::Fields);
static_assert(kind_of<std::vector<Pair>> == Kind::Vector && kind_of<std::optional<Batch>> == Kind::Optional);
static_assert(kind_of<WithArray> == Kind::Unknown && kind_of<Derived> == Kind::Unknown && kind_of<WithConstructor> == Kind::Unknown);
static_assert(kind_of<WithConstant> == Kind::Unknown && kind_of<WithPointer> == Kind::Unknown);

TEST(PlainStructs, are_arguments_and_results) {
  auto sums = function([](Batch batch) {
    Pair result{batch.ids * batch.rate + batch.pair.first, batch.pair.second};
    if (batch.weights) result.second = result.second * *batch.weights;
    for (const Tensor& each : batch.more) result.first += each;
    for (const auto& [name, each] : batch.named) result.second += each;
    return batch.mode == Mode::Sum ? result : Pair{result.second, result.first};
  });
  const auto batch = [](const Shape& shape) {
    return Batch{.ids = ones(shape) * 2,
                 .weights = {},
                 .pair = {ones(shape), ones(shape) * 3},
                 .more = {ones(shape)},
                 .named = {{"x", ones(shape)}}};
  };
  for (const int64_t size : {2, 5}) {
    const Pair result = sums(batch({size}));
    EXPECT_EQ(result.first.to_vector<float>(), Floats(static_cast<size_t>(size), 3));
    EXPECT_EQ(result.second.to_vector<float>(), Floats(static_cast<size_t>(size), 4));
  }
  EXPECT_EQ(sums.stats().traces, 1);
  Batch other = batch({2});
  other.mode = Mode::Mean;
  EXPECT_EQ(sums(other).first.to_vector<float>(), (Floats{4, 4}));
  EXPECT_EQ(sums.stats().traces, 2) << "host values are part of the key";
  other.weights = ones({2}) * 10;
  EXPECT_EQ(sums(other).first.to_vector<float>(), (Floats{31, 31}));
  EXPECT_EQ(sums.stats().traces, 3) << "an optional that is there, too";
}

TEST(PlainStructs, may_be_local_and_have_many_fields) {
  struct Local {
    Tensor x;
    Sixteen many;
    int count = 2;
  };
  Sixteen many;
  for (const auto part : {&Sixteen::a, &Sixteen::h, &Sixteen::p}) many.*part = ones({2});
  for (const auto part : {&Sixteen::b, &Sixteen::c, &Sixteen::d, &Sixteen::e, &Sixteen::f, &Sixteen::g, &Sixteen::i, &Sixteen::j,
                          &Sixteen::k, &Sixteen::l, &Sixteen::m, &Sixteen::n, &Sixteen::o}) {
    many.*part = zeros({2});
  }
  many.p = many.p * 7;
  auto f = function([](Local in) {
    in.x = (in.x + in.many.a + in.many.p) * in.count;
    return in;
  });
  const Local out = f(Local{ones({2}), many});
  EXPECT_EQ(out.x.to_vector<float>(), (Floats{18, 18}));
  EXPECT_EQ(out.many.p.to_vector<float>(), (Floats{7, 7}));
  EXPECT_EQ(out.count, 2);
}

TEST(PlainStructs, are_states_of_loops_and_branches) {
  struct State {
    Tensor total, step;
  };
  auto run = function([](Tensor xs, Tensor limit) {
    const auto [last, all] = scan(
        [](const State& state, const Tensor& x) {
          State next{state.total + x, state.step + 1};
          return std::pair(next, Pair{next.total, next.step});
        },
        State{zeros({}), zeros({})}, xs);
    const State grown = while_loop([&](const State& state) { return state.total < limit; },
                                   [](const State& state) { return State{state.total * 2, state.step + 1}; }, last);
    const State chosen = cond(grown.step > 4, [&] { return grown; }, [&] { return State{grown.total * 0, grown.step}; });
    return std::pair(chosen, all);
  });
  const auto [state, all] = run(tensor({1.F, 2.F, 3.F}), 20.F);
  EXPECT_EQ(state.total.item<float>(), 24);
  EXPECT_EQ(state.step.item<float>(), 5);
  EXPECT_EQ(all.first.to_vector<float>(), (Floats{1, 3, 6}));
  EXPECT_EQ(all.second.to_vector<float>(), (Floats{1, 2, 3}));
  EXPECT_EQ(run(tensor({1.F, 2.F}), 5.F).first.total.item<float>(), 0);
}

template <class Plain>
std::string reason_for(const Plain& first, const Plain& second) {
  auto total = function([](Plain plain) { return detail::structure::flatten(plain)[0] * 2.0f; }, {.name = "total"});
  total(first);
  return total.would_retrace(second).reason;
}

TEST(PlainStructs, have_the_names_of_their_fields_in_reports) {
  auto scaled = function([](Batch batch) { return batch.ids * batch.rate; }, {.name = "scaled"});
  Batch batch;
  batch.ids = batch.pair.first = batch.pair.second = ones({2});
  batch.more = {ones({2})};
  scaled(batch);
  EXPECT_EQ(scaled.traces()[0].signature, "(f32[ids0], f32[pair.first0], f32[pair.second0], f32[more0])");
  batch.rate = 0.25f;
  scaled(batch);
  EXPECT_NE(scaled.report().find("argument 0 (rate): 0.5 became 0.25"), std::string::npos) << scaled.report();
  batch.pair.second = ones({2, 2});
  EXPECT_EQ(scaled.would_retrace(batch).reason.substr(0, 66), "argument 0 (pair.second): f32[pair.second0] became f32[2, 2] (near");
}

TEST(PlainStructs, have_names_of_fields_wherever_the_struct_is_declared) {
  struct Local {
    Pair pair;
    PlainOfOneFile plain;
    float größe = 1;
  };
  const Tensor x = ones({2});
  const PlainOfOneFile plain{x, 1};
  const auto starts = [](const std::string& text, std::string_view with) { return text.starts_with(with); };
  EXPECT_PRED2(starts, reason_for(plain, {x, 2}), "argument 0 (count): 1 became 2 (nearest");
  EXPECT_PRED2(starts, reason_for(Local{{x, x}, plain}, Local{{x, x}, {x, 2}}), "argument 0 (plain.count): 1 became 2 (nearest");
  EXPECT_PRED2(starts, reason_for(Local{{x, x}, plain}, Local{{x, x}, plain, 2}), "argument 0 (größe): 1 became 2 (nearest");
  EXPECT_PRED2(starts, reason_for(Twice<Local>{{{x, x}, plain}, 1}, Twice<Local>{{{x, x}, plain}, 2}),
               "argument 0 (times): 1 became 2 (nearest");
  struct {
    Tensor x;
    int count = 1;
  } unnamed{x}, other{x, 2};
  EXPECT_PRED2(starts, reason_for<decltype(unnamed)>(unnamed, {other.x, other.count}), "argument 0 (count): 1 became 2 (nearest");
}

}  // namespace
}  // namespace anyshape
