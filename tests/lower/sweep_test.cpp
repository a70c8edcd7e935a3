// Random shapes with sizes 0, 1, 2 and beyond a vector or two: compiled function = eager = interpreter = a plain C++ loop.
#include "function/compile.h"
#include "lower/host_array.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using Body = std::function<Tensor(const std::vector<Tensor>&)>;

// One callable in every way of running it.
class Ways {
 public:
  Ways(size_t arguments, Body body) : body_(std::move(body)), arguments_(arguments) {}

  void check(const std::vector<Tensor>& arguments, const HostArray& expected) {
    std::string shapes;
    for (const Tensor& argument : arguments) shapes += to_string(argument.shape()) + " ";
    const Tensor wanted = expected.tensor();
    EXPECT_TRUE(all_equal(body_(arguments), wanted)) << "eager " << shapes;
    EXPECT_TRUE(all_equal(call(compiled_, arguments), wanted)) << "compiled " << shapes;
    const function_detail::ScopedInterpretation interpretation;
    EXPECT_TRUE(all_equal(call(interpreted_, arguments), wanted)) << "interpreted " << shapes;
  }
  int64_t traces() const { return compiled_.stats().traces; }
  int64_t interpreted_groups() const { return compiled_.stats().interpreted_groups; }

 private:
  using Traced = Function<Tensor(Tensor, Tensor)>;
  Traced make() {
    return function([this](Tensor a, Tensor b) { return arguments_ == 1 ? body_({a}) : body_({a, b}); },
                    {.name = "sweep", .retrace = Retrace::Allow});
  }
  static Tensor call(const Traced& traced, const std::vector<Tensor>& arguments) { return traced(arguments[0], arguments.back()); }

  Body body_;
  size_t arguments_;
  Traced compiled_ = make(), interpreted_ = make();
};

constexpr int rounds = 40;

TEST(Sweep, elementwise_with_broadcasting) {
  RandomArrays random(1);
  Ways ways(2, [](const std::vector<Tensor>& t) { return maximum(t[0] * t[1] - t[0], t[1]); });
  for (int round = 0; round < rounds; ++round) {
    const Sizes space = random.sizes(3);
    Sizes left = space, right = space;
    for (size_t axis = 0; axis < 3; ++axis) {
      const int64_t fate = random.below(4);
      if (fate == 0) left[axis] = 1;
      if (fate == 1) right[axis] = 1;
    }
    const HostArray a = random.array(left), b = random.array(right);
    ways.check({a.tensor(), b.tensor()}, make(space, [&](const Sizes& i) { return std::max(a.at(i) * b.at(i) - a.at(i), b.at(i)); }));
  }
  EXPECT_EQ(ways.traces(), 1);
  EXPECT_EQ(ways.interpreted_groups(), 0);
}

TEST(Sweep, elementwise_of_different_ranks) {
  RandomArrays random(2);
  for (const size_t dropped : {1, 2, 3}) {
    Ways ways(2, [](const std::vector<Tensor>& t) { return t[1] - t[0]; });
    for (int round = 0; round < rounds / 2; ++round) {
      const Sizes space = random.sizes(3);
      const HostArray a = random.array(space), b = random.array({space.begin() + static_cast<std::ptrdiff_t>(dropped), space.end()});
      ways.check({a.tensor(), b.tensor()}, make(space, [&](const Sizes& i) { return b.at(i) - a.at(i); }));
    }
    EXPECT_EQ(ways.traces(), 1);
  }
}

TEST(Sweep, sums_along_every_choice_of_axes) {
  RandomArrays random(3);
  for (unsigned mask = 1; mask < 8; ++mask) {
    std::vector<int64_t> axes;
    for (int64_t axis = 0; axis < 3; ++axis) {
      if ((mask >> axis & 1) != 0) axes.push_back(axis);
    }
    Ways ways(1, [axes](const std::vector<Tensor>& t) { return sum(t[0] * 2.0f, {.axes = axes}); });
    for (int round = 0; round < rounds / 2; ++round) {
      const HostArray x = random.array(random.sizes(3));
      const auto kept = [&](const Sizes& from) {
        Sizes result;
        for (size_t axis = 0; axis < 3; ++axis) {
          if ((mask >> axis & 1) == 0) result.push_back(from[axis]);
        }
        return result;
      };
      HostArray expected = accumulate(x, kept(x.sizes), kept);
      for (float& value : expected.values) value *= 2;
      ways.check({x.tensor()}, expected);
    }
    EXPECT_EQ(ways.traces(), 1);
  }
}

TEST(Sweep, sums_to_sizes_that_may_be_1) {
  RandomArrays random(4);
  Ways ways(2, [](const std::vector<Tensor>& t) { return sum_to(t[0], t[1].shape()); });
  for (int round = 0; round < 2 * rounds; ++round) {
    const HostArray x = random.array(random.sizes(3));
    Sizes target(x.sizes.begin() + 1, x.sizes.end());
    for (int64_t& size : target) size = random.below(2) == 0 ? 1 : size;
    const HostArray like = random.array(target);
    ways.check({x.tensor(), like.tensor()},
               accumulate(x, target, [&](const Sizes& i) { return Sizes{target[0] == 1 ? 0 : i[1], target[1] == 1 ? 0 : i[2]}; }));
  }
  EXPECT_EQ(ways.traces(), 1);
}

TEST(Sweep, transposed_and_sliced_arguments) {
  RandomArrays random(5);
  Ways ways(2, [](const std::vector<Tensor>& t) { return t[0] * 2.0f + t[1]; });
  for (int round = 0; round < rounds; ++round) {
    const Sizes space = random.sizes(3);
    const HostArray a = random.array({space[2], space[0], space[1]}), b = random.array({space[0] + 3, space[1] + 1, space[2] + 2});
    const Tensor sliced = slice(b.tensor(), {{2, 2 + space[0]}, {0, space[1]}, {1, 1 + space[2]}});
    ways.check({transpose(a.tensor(), {1, 2, 0}), sliced},
               make(space, [&](const Sizes& i) { return a.at({i[2], i[0], i[1]}) * 2 + b.at({i[0] + 2, i[1], i[2] + 1}); }));
  }
  EXPECT_EQ(ways.traces(), 1);
}

TEST(Sweep, transposes_and_slices_inside_a_group) {
  RandomArrays random(6);
  Ways ways(1, [](const std::vector<Tensor>& t) {
    const Tensor part = slice(t[0] + 1.0f, {{.begin = 0}, {.begin = t[0].shape()[1] / 2}});
    return sum(transpose(part, {1, 0, 2}) * 3.0f, {.axes = {2}});
  });
  for (int round = 0; round < rounds; ++round) {
    const HostArray x = random.array(random.sizes(3));
    const int64_t begin = x.sizes[1] / 2;
    const HostArray part =
        make({x.sizes[0], x.sizes[1] - begin, x.sizes[2]}, [&](const Sizes& i) { return (x.at({i[0], i[1] + begin, i[2]}) + 1) * 3; });
    ways.check({x.tensor()}, accumulate(part, {part.sizes[1], part.sizes[0]}, [](const Sizes& i) { return Sizes{i[1], i[0]}; }));
  }
  EXPECT_EQ(ways.traces(), 1);
}

}  // namespace
}  // namespace anyshape::test
