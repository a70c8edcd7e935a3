// What a function takes and gives besides tensors: host values and structure are part of the key, objects go by identity.
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

enum class Mode { Sum, Mean };

struct Options {
  float rate = 0.25f;
  Mode mode = Mode::Sum;
  template <class Visitor>
  void visit(Visitor&& v) {
    v("rate", rate);
    v("mode", mode);
  }
};

struct Batch {
  Tensor ids;
  std::optional<Tensor> weights;
  Options options;
  template <class Visitor>
  void visit(Visitor&& v) {
    v("ids", ids);
    v("weights", weights);
    v("options", options);
  }
};

struct Parts {
  Tensor total;
  std::map<std::string, Tensor> parts;
  int count = 0;
  template <class Visitor>
  void visit(Visitor&& v) {
    v("total", total);
    v("parts", parts);
    v("count", count);
  }
};

// A model in small: a handle on state of its own.
class Scale : public Stateful {
 public:
  explicit Scale(float start) : Stateful("scale"), factor_(Tensor(start)) {}
  Tensor operator()(const Tensor& x) const { return negated_ ? -(x * factor_.read()) : x * factor_.read(); }
  void negate() {
    negated_ = !negated_;
    changed();
  }
  const Variable& factor() const { return factor_; }

 private:
  Variable factor_;
  bool negated_ = false;
};

std::string last_reason(const std::vector<TraceRecord>& traces) { return traces.back().reason; }

TEST(Arguments, structs_with_tensors_and_options_pass_through) {
  auto score = function(
      [](const Batch& batch) {
        Tensor x = batch.weights ? batch.ids * *batch.weights : batch.ids;
        x = x * batch.options.rate;
        return batch.options.mode == Mode::Sum ? sum(x) : mean(x);
      },
      {.name = "score", .retrace = Retrace::Allow});
  Batch batch{.ids = full({2, 3}, 4.0f), .weights = {}, .options = {}};
  EXPECT_EQ(score(batch).item<float>(), 6);
  batch.ids = full({5, 1}, 4.0f);
  EXPECT_EQ(score(batch).item<float>(), 5);
  EXPECT_EQ(score.stats().traces, 1);

  batch.options.rate = 0.5f;
  EXPECT_EQ(score(batch).item<float>(), 10);
  EXPECT_NE(last_reason(score.traces()).find("argument 0 (options.rate): 0.25 became 0.5"), std::string::npos)
      << last_reason(score.traces());

  batch.weights = full({1}, 2.0f);
  EXPECT_EQ(score(batch).item<float>(), 20);
  EXPECT_NE(last_reason(score.traces()).find("argument 0 (weights): nothing became a value"), std::string::npos)
      << last_reason(score.traces());

  batch.options.mode = Mode::Mean;
  EXPECT_EQ(score(batch).item<float>(), 4);
  EXPECT_EQ(score.stats().traces, 4);
  EXPECT_EQ(score.traces()[3].values.at(2).name, "argument 0 (options.mode)");
  EXPECT_EQ(score.traces()[3].values.at(2).value, "1");
}

TEST(Arguments, lengths_and_keys_are_structure) {
  auto total = function(
      [](std::vector<Tensor> rows, std::map<std::string, Tensor> named, std::string prefix) {
        Tensor result = Tensor(0.0f);
        for (const Tensor& row : rows) result = result + sum(row);
        for (const auto& [name, each] : named) {
          if (name.starts_with(prefix)) result = result + sum(each);
        }
        return result;
      },
      {.name = "total", .retrace = Retrace::Allow});
  const Tensor two = ones({2}), three = ones({3});
  EXPECT_EQ(total({two, three}, {{"a1", two}, {"b", two}}, "a").item<float>(), 7);
  EXPECT_EQ(total({three, three}, {{"a1", two}, {"b", three}}, "a").item<float>(), 8);
  EXPECT_EQ(total.stats().traces, 1);
  EXPECT_EQ(total({two}, {{"a1", two}, {"b", two}}, "a").item<float>(), 4);
  EXPECT_NE(last_reason(total.traces()).find("argument 0: 2 elements became 1 element"), std::string::npos) << last_reason(total.traces());
  EXPECT_EQ(total({two}, {{"a1", two}, {"a2", two}}, "a").item<float>(), 6);
  EXPECT_NE(last_reason(total.traces()).find("argument 1: keys \"a1\", \"b\" became keys \"a1\", \"a2\""), std::string::npos)
      << last_reason(total.traces());
  EXPECT_EQ(total({two}, {{"a1", two}, {"a2", two}}, "").item<float>(), 6);
  EXPECT_NE(last_reason(total.traces()).find("argument 2: \"a\" became \"\""), std::string::npos) << last_reason(total.traces());
  EXPECT_EQ(total({}, {}, "").item<float>(), 0);
}

TEST(Arguments, objects_are_taken_by_reference_and_known_by_identity) {
  auto apply = function(
      [](Scale& scale, const Variable& bias, Tensor x) {
        scale.factor().assign(scale.factor().read() + 1.0f);
        return scale(x) + bias.read();
      },
      {.name = "apply"});
  Scale first(1), second(10);
  const Variable bias(Tensor(0.5f), {.name = "bias"});
  EXPECT_EQ(apply(first, bias, ones({1})).item<float>(), 2.5f);
  EXPECT_EQ(apply(first, bias, ones({1})).item<float>(), 3.5f);
  Scale same = first;
  EXPECT_EQ(apply(same, bias, ones({1})).item<float>(), 4.5f);
  EXPECT_EQ(apply.stats().traces, 1);

  EXPECT_EQ(apply(second, bias, ones({1})).item<float>(), 11.5f);
  const std::string ids = std::to_string(first.identity().id()) + " became scale #" + std::to_string(second.identity().id());
  EXPECT_NE(last_reason(apply.traces()).find("argument 0 (scale): scale #" + ids), std::string::npos) << last_reason(apply.traces());

  first.negate();
  EXPECT_EQ(apply(first, bias, ones({1})).item<float>(), -4.5f);
  EXPECT_NE(last_reason(apply.traces()).find(" version 1 (nearest: "), std::string::npos) << last_reason(apply.traces());
  EXPECT_EQ(apply.stats().traces, 3);
}

TEST(Arguments, an_object_built_while_tracing_is_found_again) {
  class Lazy : public Stateful {
   public:
    Lazy() : Stateful("lazy") {}
    void build() {
      if (!built) changed();
      built = true;
    }
    bool built = false;
  };
  auto use = function(
      [](Lazy& lazy, Tensor x) {
        lazy.build();
        return x + 1.0f;
      },
      {.name = "use"});
  Lazy lazy;
  use(lazy, ones({2}));
  use(lazy, ones({3}));
  EXPECT_TRUE(lazy.built) << "the object itself went in";
  EXPECT_EQ(use.stats().traces, 1);
}

TEST(Arguments, results_keep_their_structure) {
  auto split = function(
      [](Tensor x, bool both) {
        Parts out{.total = sum(x), .parts = {{"first", x}}, .count = both ? 2 : 1};
        if (both) out.parts["second"] = -x;
        return out;
      },
      {.name = "split"});
  for (const int size : {1, 3}) {
    const Parts out = split(ones({size}), true);
    EXPECT_EQ(out.total.item<float>(), static_cast<float>(size));
    ASSERT_EQ(out.parts.size(), 2U);
    EXPECT_EQ(out.parts.at("second").shape()[0].value(), size);
    EXPECT_EQ(out.count, 2);
  }
  EXPECT_EQ(split(ones({1}), false).parts.size(), 1U);
  EXPECT_EQ(split.stats().traces, 2);

  auto nested = function([](std::vector<Tensor> xs) { return std::pair(xs, std::optional<Tensor>()); }, {.name = "nested"});
  const auto [same, none] = nested({ones({2}), zeros({1})});
  EXPECT_EQ(same.size(), 2U);
  EXPECT_FALSE(none.has_value());

  const Variable count(Tensor(0.0f));
  auto nothing = function([&](std::array<Tensor, 2> both) { count.assign_add(sum(both[0] * both[1])); }, {.name = "nothing"});
  nothing({ones({3}), ones({3})});
  nothing({ones({4}), ones({4})});
  EXPECT_EQ(count.read().item<float>(), 7);
}

TEST(Arguments, errors_name_the_part) {
  auto score = function([](float rate, Batch batch) { return batch.ids * rate; }, {.name = "score"});
  EXPECT_EQ(text_of<ArgumentError>([&] { score(1.0f, {}); }),
            "function \"score\": argument 1 (ids) is an empty tensor handle; expected a tensor with a value.");
  auto declared = function([](float rate, Batch batch) { return batch.ids * rate; },
                           {.name = "declared", .signature = {spec(f32, {dim("n")}, "tokens")}});
  EXPECT_EQ(text_of<SignatureError>([&] { declared(1.0f, {.ids = ones({2, 2}), .weights = {}, .options = {}}); }),
            "function \"declared\": argument 1 (tokens) has another rank: it is f32[2, 2]; expected f32[n]. Change the call or widen the "
            "signature.");
  EXPECT_NE(text_of<SignatureError>([&] {
              declared(1.0f, {.ids = ones({2}), .weights = ones({2}), .options = {}});
            }).find("2 tensor arguments given; expected 1"),
            std::string::npos);
}

TEST(Arguments, inlined_functions_take_structures_too) {
  auto inner = function([](const Batch& batch) { return std::vector<Tensor>{batch.ids, sum(batch.ids)}; }, {.name = "inner"});
  auto outer = function([&](Tensor x) { return inner({.ids = x * 2.0f, .weights = {}, .options = {}})[1]; }, {.name = "outer"});
  EXPECT_EQ(outer(ones({3})).item<float>(), 6);
  EXPECT_EQ(outer(ones({4})).item<float>(), 8);
  EXPECT_EQ(outer.stats().traces, 1);
  EXPECT_EQ(inner.stats().calls, 0);
}

}  // namespace
}  // namespace anyshape::test
