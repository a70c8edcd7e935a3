// Values of every kind taken apart, put together, keyed and described.
#include <anyshape/anyshape.h>
#include <anyshape/structure_text.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

enum class Mode { Slow, Fast };
enum class Named { One, Two };
std::string to_string(Named value) { return value == Named::One ? "one" : "two"; }

struct Options {
  float rate = 0.5f;
  std::optional<Tensor> weight;
  template <class Visitor>
  void visit(Visitor&& v) {
    v("rate", rate);
    v("weight", weight);
  }
};

struct Batch {
  Tensor ids;
  Options options;
  std::vector<std::pair<Tensor, int>> pairs;
  template <class Visitor>
  void visit(Visitor&& v) {
    v("ids", ids);
    v("options", options);
    v("pairs", pairs);
  }
};

class Machine : public Stateful {
 public:
  Machine() : Stateful("machine") {}
  void rebuild() { changed(); }
};

using Everything =
    std::tuple<Batch, std::map<std::string, std::vector<Tensor>>, std::array<Tensor, 2>, Mode, std::string, std::vector<bool>>;

Everything everything() {
  return {{Tensor(1), {0.25f, Tensor(2)}, {{Tensor(3), 30}, {Tensor(4), 40}}},
          {{"left", {Tensor(5)}}, {"right", {}}},
          {Tensor(6), Tensor(7)},
          Mode::Fast,
          "text",
          {true, false}};
}

std::vector<int> numbers(const std::vector<Tensor>& tensors) {
  std::vector<int> result;
  for (const Tensor& each : tensors) result.push_back(each.item<int>());
  return result;
}

TEST(Structure, gives_the_tensors_in_order_and_takes_others_in_their_place) {
  const Everything value = everything();
  const std::vector<Tensor> tensors = detail::structure::flatten(value);
  EXPECT_EQ(numbers(tensors), (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
  std::vector<Tensor> others;
  for (const Tensor& each : tensors) others.push_back(each * 10);
  const Everything rebuilt = detail::structure::rebuild(value, others);
  EXPECT_EQ(numbers(detail::structure::flatten(rebuilt)), (std::vector<int>{10, 20, 30, 40, 50, 60, 70}));
  EXPECT_EQ(std::get<0>(rebuilt).pairs[1].second, 40);
  EXPECT_EQ(std::get<1>(rebuilt).at("left")[0].item<int>(), 50);
  EXPECT_EQ(detail::structure::key(rebuilt), detail::structure::key(value));
  EXPECT_EQ(numbers(detail::structure::flatten(value)), (std::vector<int>{1, 2, 3, 4, 5, 6, 7})) << "the first value stays as it was";
}

TEST(Structure, the_key_changes_with_everything_but_the_tensors) {
  const std::string key = detail::structure::key(everything());
  auto changed = [&](auto change) {
    Everything value = everything();
    change(value);
    return detail::structure::key(value) != key;
  };
  EXPECT_FALSE(changed([](Everything& value) { std::get<0>(value).ids = Tensor(9); }));
  EXPECT_TRUE(changed([](Everything& value) { std::get<0>(value).options.rate = 0.5f; }));
  EXPECT_TRUE(changed([](Everything& value) { std::get<0>(value).options.weight.reset(); }));
  EXPECT_TRUE(changed([](Everything& value) { std::get<0>(value).pairs.pop_back(); }));
  EXPECT_TRUE(changed([](Everything& value) { std::get<0>(value).pairs[0].second = 31; }));
  EXPECT_TRUE(changed([](Everything& value) { std::get<1>(value)["more"]; }));
  EXPECT_TRUE(changed([](Everything& value) {
    std::get<1>(value).erase("right");
    std::get<1>(value)["wrong"];
  }));
  EXPECT_TRUE(changed([](Everything& value) { std::get<3>(value) = Mode::Slow; }));
  EXPECT_TRUE(changed([](Everything& value) { std::get<4>(value) = "Text"; }));
  EXPECT_TRUE(changed([](Everything& value) { std::get<5>(value)[1] = true; }));
  // Neighbouring texts do not run into each other.
  EXPECT_NE(detail::structure::key(std::pair<std::string, std::string>("a", "bc")),
            detail::structure::key(std::pair<std::string, std::string>("ab", "c")));
  EXPECT_TRUE(detail::structure::key(std::tuple<Tensor, std::array<Tensor, 2>>()).empty()) << "tensors alone cost nothing";
}

TEST(Structure, objects_are_known_by_number_and_version) {
  Machine first;
  const Machine copy = first, second;
  EXPECT_EQ(detail::structure::key(first), detail::structure::key(copy));
  EXPECT_NE(detail::structure::key(first), detail::structure::key(second));
  const std::string before = detail::structure::key(first);
  first.rebuild();
  EXPECT_NE(detail::structure::key(first), before);
  EXPECT_EQ(detail::structure::key(first), detail::structure::key(copy)) << "a copy is the same object";
  const Variable a(ones({2})), b(ones({2}));
  EXPECT_NE(detail::structure::key(a), detail::structure::key(b));
  EXPECT_EQ(detail::structure::key(a), detail::structure::key(Variable(a)));
}

TEST(Structure, every_part_has_a_name_and_a_text) {
  const detail::structure::Description text = detail::structure::describe(everything(), "argument 2");
  EXPECT_EQ(text.tensors, (std::vector<std::string>{"argument 2 ([0].ids)", "argument 2 ([0].options.weight)",
                                                    "argument 2 ([0].pairs[0][0])", "argument 2 ([0].pairs[1][0])",
                                                    "argument 2 ([1][\"left\"][0])", "argument 2 ([2][0])", "argument 2 ([2][1])"}));
  std::string parts;
  for (const detail::structure::Part& part : text.parts) parts += part.name + ": " + part.value + "\n";
  EXPECT_EQ(parts,
            "argument 2 ([0].options.rate): 0.25\n"
            "argument 2 ([0].options.weight): a value\n"
            "argument 2 ([0].pairs): 2 elements\n"
            "argument 2 ([0].pairs[0][1]): 30\n"
            "argument 2 ([0].pairs[1][1]): 40\n"
            "argument 2 ([1]): keys \"left\", \"right\"\n"
            "argument 2 ([1][\"left\"]): 1 element\n"
            "argument 2 ([1][\"right\"]): 0 elements\n"
            "argument 2 ([3]): 1\n"
            "argument 2 ([4]): \"text\"\n"
            "argument 2 ([5]): 2 elements\n"
            "argument 2 ([5][0]): true\n"
            "argument 2 ([5][1]): false\n");
}

TEST(Structure, names_objects_by_their_kind_and_enums_by_their_own_words) {
  Machine machine;
  machine.rebuild();
  const detail::structure::Part part = detail::structure::describe(machine, "argument 0").parts.at(0);
  EXPECT_EQ(part.name, "argument 0 (machine)");
  EXPECT_EQ(part.value, "machine #" + std::to_string(machine.identity().id()) + " version 1");
  const Variable kernel(ones({2}), {.name = "kernel"});
  EXPECT_EQ(detail::structure::describe(kernel, "argument 1").parts.at(0).name, "argument 1 (variable)");
  EXPECT_EQ(detail::structure::describe(kernel, "argument 1").parts.at(0).value, "variable \"kernel\" #" + std::to_string(kernel.id()));
  EXPECT_EQ(detail::structure::describe(Named::Two, "argument 1").parts.at(0).value, "two");
  EXPECT_EQ(detail::structure::describe(f64, "argument 1").parts.at(0).value, "f64");
  EXPECT_EQ(detail::structure::describe('a', "argument 1").parts.at(0).value, "97");
  EXPECT_EQ(detail::structure::describe(0.1f, "argument 1").parts.at(0).value, "0.1");
}

}  // namespace
}  // namespace anyshape::test
