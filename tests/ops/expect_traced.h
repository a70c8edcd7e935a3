// A function traced once must give at every shape what the same code gives eagerly.
#pragma once
#include <gtest/gtest.h>

#include <anyshape/function.h>
#include <anyshape/ops.h>

#include <functional>
#include <vector>

namespace anyshape {

// Each call is one or two tensors; all of one number, dtype and rank.
inline void expect_traced_as_eager(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                                   const std::vector<std::vector<Tensor>>& calls) {
  auto one = function([&](Tensor a) { return f({a}); }, {.name = "one"});
  auto two = function([&](Tensor a, Tensor b) { return f({a, b}); }, {.name = "two"});
  for (const std::vector<Tensor>& call : calls) {
    const Tensor eager = f(call), traced = call.size() == 1 ? one(call[0]) : two(call[0], call[1]);
    EXPECT_EQ(traced.dtype(), eager.dtype());
    ASSERT_TRUE(traced.shape() == eager.shape()) << to_string(traced.shape()) << " against " << to_string(eager.shape());
    EXPECT_TRUE(all_close(cast(traced, f64), cast(eager, f64), {.relative = 1e-5, .absolute = 1e-6}))
        << to_string(call[0].shape()) << ": " << to_string(traced) << " against " << to_string(eager);
  }
  EXPECT_EQ(one.stats().traces + two.stats().traces, 1);
}

}  // namespace anyshape
