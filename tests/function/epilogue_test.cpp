// What follows a product runs on its blocks: the same bits as in a loop of its own, compiled and interpreted, for sizes 0, 1, odd and large.
#include "base/switches.h"
#include "function/compile.h"
#include "function/same_bits.h"
#include "function/small_network.h"
#include "runtime/cpu/pool.h"

#include <gtest/gtest.h>

namespace anyshape::test {
namespace {

using Inputs = std::vector<Tensor>;
using Body = std::function<std::vector<Tensor>(const Inputs&)>;

auto compiled(const Body& body) {
  return function([body](std::vector<Tensor> inputs) { return body(inputs); }, {.name = "after_a_product"});
}

// Three compilations of one body, each with one trace for all sizes.
struct Versions {
  explicit Versions(const Body& body) : joined(compiled(body)), apart(compiled(body)), interpreted(compiled(body)) {}

  void expect_equal(const Inputs& inputs) {
    const std::vector<Tensor> got = joined(inputs);
    std::vector<Tensor> alone, slow;
    {
      const ScopedWithout off("epilogue");
      alone = apart(inputs);
    }
    {
      const function_detail::ScopedInterpretation interpretation;
      slow = interpreted(inputs);
    }
    ASSERT_EQ(got.size(), alone.size());
    for (size_t i = 0; i < got.size(); ++i) {
      expect_same_bits(got[i], alone[i]);
      expect_same_bits(got[i], slow[i]);
    }
    EXPECT_EQ(joined.stats().traces, 1);
  }

  using Compiled = decltype(compiled(Body()));
  Compiled joined, apart, interpreted;
};

template <class Compiled>
bool follows_products(const Compiled& compiled) {
  return compiled.explain({.detail = Detail::Full}).find("runs on its blocks") != std::string::npos;
}

struct Sizes {
  int64_t m, k, n;
};
constexpr Sizes sizes[] = {{0, 3, 4}, {3, 0, 4},    {3, 4, 0},    {1, 1, 1},     {2, 3, 1},       {1, 7, 33},
                           {7, 5, 3}, {33, 17, 65}, {64, 64, 64}, {300, 40, 31}, {129, 128, 257}, {700, 130, 190}};

TEST(Epilogue, bias_activation_and_residual_keep_the_bits_of_loops_by_themselves) {
  Versions versions([](const Inputs& in) -> std::vector<Tensor> {
    const Tensor z = matmul(in[0], in[1]) + in[2];
    return {tanh(z) + matmul(in[3], in[1]), z};
  });
  std::mt19937 host(1);
  for (const Sizes& s : sizes) {
    SCOPED_TRACE(s.m * 1'000'000 + s.k * 1000 + s.n);
    versions.expect_equal({random_tensor(host, {s.m, s.k}, f32), random_tensor(host, {s.k, s.n}, f32), random_tensor(host, {s.n}, f32),
                           random_tensor(host, {s.m, s.k}, f32)});
  }
}

TEST(Epilogue, transposed_products_keep_their_bits) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      Versions versions([=](const Inputs& in) -> std::vector<Tensor> {
        return {relu(matmul(in[0], in[1], {.transpose_a = left, .transpose_b = right}) * 0.5f)};
      });
      std::mt19937 host(2);
      for (const Sizes& s : sizes) {
        versions.expect_equal({random_tensor(host, {left ? s.k : s.m, left ? s.m : s.k}, f32),
                               random_tensor(host, {right ? s.n : s.k, right ? s.k : s.n}, f32)});
      }
    }
  }
}

// One matrix for all entries, a matrix for each, and one that meets all of them; values of other shapes beside.
TEST(Epilogue, batches_keep_their_bits) {
  const Body body = [](const Inputs& in) -> std::vector<Tensor> { return {exp(matmul(in[0], in[1]) - in[2]), in[0] + 1.0f}; };
  std::mt19937 host(3);
  Versions one(body), each(body), repeated(body), by_entry(body);
  for (const auto& [entries, s] : {std::pair{0, Sizes{2, 3, 4}}, {1, {3, 4, 5}}, {5, {17, 9, 33}}, {3, {130, 64, 70}}, {40, {4, 3, 2}}}) {
    const Tensor a = random_tensor(host, {entries, s.m, s.k}, f32), bias = random_tensor(host, {s.n}, f32);
    one.expect_equal({a, random_tensor(host, {s.k, s.n}, f32), bias});
    each.expect_equal({a, random_tensor(host, {entries, s.k, s.n}, f32), bias});
    repeated.expect_equal({a, random_tensor(host, {2, 1, s.k, s.n}, f32), bias});
    by_entry.expect_equal({a, random_tensor(host, {s.k, s.n}, f32), random_tensor(host, {entries, 1, s.n}, f32)});
  }
}

// Sizes that may be 1 only at run time: the loop has versions.
TEST(Epilogue, operands_that_may_be_repeated_keep_their_bits) {
  Versions versions([](const Inputs& in) -> std::vector<Tensor> { return {matmul(in[0], in[1]) * in[2] + in[3]}; });
  std::mt19937 host(4);
  for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 33}, {40, 1}, {40, 33}}) {
    versions.expect_equal({random_tensor(host, {40, 8}, f32), random_tensor(host, {8, 33}, f32), random_tensor(host, {rows, columns}, f32),
                           random_tensor(host, {40, columns}, f32)});
  }
}

TEST(Epilogue, shapes_in_between_and_heads_keep_their_bits) {
  Versions versions([](const Inputs& in) -> std::vector<Tensor> {
    const Dim rows = in[0].shape()[0];
    const Tensor heads = reshape(matmul(in[0], in[1]), {rows, 4, 6});
    return {transpose(sigmoid(heads) * in[2], {1, 0, 2})};
  });
  std::mt19937 host(5);
  for (const int64_t rows : {0, 1, 5, 200}) {
    versions.expect_equal({random_tensor(host, {rows, 9}, f32), random_tensor(host, {9, 24}, f32), random_tensor(host, {rows, 4, 6}, f32)});
  }
}

TEST(Epilogue, products_in_loops_of_their_own_are_followed_too) {
  Versions versions([](const Inputs& in) -> std::vector<Tensor> {
    return {cast(tanh(matmul(in[0], in[1]) + in[2]), f32), cast(matmul(cast(in[0] * 8.0f, i32), cast(in[1] * 8.0f, i32)) * 3, f32)};
  });
  std::mt19937 host(6);
  for (const int64_t rows : {0, 1, 33}) {
    versions.expect_equal({random_tensor(host, {rows, 9}, f64), random_tensor(host, {9, 24}, f64), random_tensor(host, {24}, f64)});
  }
}

TEST(Epilogue, ragged_values_and_looked_up_rows_keep_their_bits) {
  Versions versions(
      [](const Inputs& in) -> std::vector<Tensor> { return {relu(matmul(in[0], in[1]) + take(in[2], cast(in[3], i32), {.axis = 0}))}; });
  std::mt19937 host(7);
  for (const int64_t rows : {0, 1, 77}) {
    versions.expect_equal({random_tensor(host, {rows, 9}, f32), random_tensor(host, {9, 24}, f32), random_tensor(host, {5, 24}, f32),
                           cast(random_labels(host, rows, 5), f32)});
  }
  auto dense = function([](Tensor x, Tensor w, Tensor bias) { return tanh(matmul(x, w) + bias); });
  const Tensor x = ragged_from_lengths(random_tensor(host, {7, 9}, f32), tensor({3, 0, 4})), w = random_tensor(host, {9, 24}, f32),
               bias = random_tensor(host, {24}, f32);
  const Tensor got = dense(x, w, bias);
  const ScopedWithout off("epilogue");
  expect_same_bits(got.values(), tanh(matmul(x.values(), w) + bias));
}

// Of one size on both sides, which the trace knows.
Tensor square_weight(std::mt19937& host) { return random_tensor(host, {65, 65}, f32, 0.1); }

TEST(Epilogue, a_residual_that_is_a_result_keeps_its_bits) {
  std::mt19937 host(9);
  const Tensor into = random_tensor(host, {9, 65}, f32), w = square_weight(host);
  Versions versions([=](const Inputs& in) -> std::vector<Tensor> {
    const Tensor x = matmul(in[0], into);
    return {x, x + tanh(matmul(x, w))};
  });
  for (const int64_t rows : {0, 1, 7, 300}) versions.expect_equal({random_tensor(host, {rows, 9}, f32)});
  EXPECT_TRUE(follows_products(versions.joined));
}

// A state that the product reads in all its blocks and of which what follows reads the elements again: in rows that do not meet, in rows that
// do, of which the product has tiles on all threads, and in a loop that does not know how long it runs.
TEST(Epilogue, states_of_loops_keep_their_bits) {
  std::mt19937 host(10);
  const Tensor into = random_tensor(host, {9, 65}, f32), w = square_weight(host);
  const auto step = [w](const Tensor& h, const Tensor& x) { return h + tanh(matmul(h, w) - x); };
  const auto mean_row = [](const Tensor& h) { return mean(h, {.axes = {0}, .keep_dims = true}); };
  const Body apart = [=](const Inputs& in) -> std::vector<Tensor> {
    const Tensor x = matmul(in[0], into);
    const auto [last, all] = scan([&](const Tensor& h, const Tensor& scale) { return std::pair(step(h, x * scale), h * 0.5f); }, x, in[1]);
    return {last, all};
  };
  const Body together = [=](const Inputs& in) -> std::vector<Tensor> {
    const auto next = [&](const Tensor& h, const Tensor& scale) {
      const Tensor made = step(h, mean_row(h) * scale);
      return std::pair(made, made);
    };
    const auto [last, all] = scan(next, matmul(in[0], into), in[1]);
    return {last, all};
  };
  const Body open = [=](const Inputs& in) -> std::vector<Tensor> {
    using State = std::pair<Tensor, Tensor>;
    return {while_loop([](const State& state) { return state.second > 0; },
                       [&](const State& state) { return State(step(state.first, mean_row(state.first)), state.second - 1); },
                       State(matmul(in[0], into) + sum(in[1]), Tensor(cast(full({}, 3), i32))))
                .first};
  };
  for (const Body& body : {apart, together, open}) {
    Versions versions(body);
    for (const auto& [rows, time] : {std::pair{40, 4}, {0, 3}, {1, 3}, {1, 0}, {17, 1}, {300, 2}}) {
      const Inputs inputs = {random_tensor(host, {rows, 9}, f32), random_tensor(host, {time}, f32)};
      versions.expect_equal(inputs);
      const std::vector<Tensor> got = versions.joined(inputs), expected = body(inputs);
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_TRUE(all_close(got[i], expected[i], {.relative = 1e-4, .absolute = 1e-4})) << rows << " rows, result " << i;
      for (const int threads : {1, 2, 3, 8}) {
        const runtime::ScopedPool pool(threads);
        const std::vector<Tensor> again = versions.joined(inputs);
        for (size_t i = 0; i < got.size(); ++i) expect_same_bits(again[i], got[i]);
      }
    }
    EXPECT_TRUE(follows_products(versions.joined)) << versions.joined.explain({.detail = Detail::Full});
  }
}

// Backward passes: products times derivatives of activations, updates behind products.
TEST(Epilogue, a_training_step_keeps_its_bits) {
  const SmallNetwork joined, apart, interpreted;
  auto joined_step = joined.compiled_step(), apart_step = apart.compiled_step(), interpreted_step = interpreted.compiled_step();
  std::mt19937 host(8);
  for (const int64_t batch : {64, 1, 7, 200}) {
    const Tensor x = random_tensor(host, {batch, SmallNetwork::inputs}, f32), label = random_labels(host, batch, SmallNetwork::classes);
    const Tensor loss = joined_step(x, label);
    {
      const ScopedWithout off("epilogue");
      expect_same_bits(loss, apart_step(x, label));
    }
    const function_detail::ScopedInterpretation interpretation;
    expect_same_bits(loss, interpreted_step(x, label));
  }
  for (size_t i = 0; i < 4; ++i) {
    expect_same_bits(joined.values()[i], apart.values()[i]);
    expect_same_bits(joined.values()[i], interpreted.values()[i]);
  }
}

}  // namespace
}  // namespace anyshape::test
