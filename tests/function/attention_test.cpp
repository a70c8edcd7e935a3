// Attention over several tiles of queries and keys, against the whole matrix of weights by ops; causal rows by themselves and in pieces behind
// earlier keys; the same bits for any number of threads; weights that dropout takes away.
#include "autodiff/finite_differences.h"
#include "runtime/cpu/pool.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace anyshape::test {
namespace {

struct Operands {
  Tensor query, key, value;
};
Operands draw(int64_t batch, int64_t queries, int64_t keys, Dtype dtype) {
  Operands drawn;
  drawn.query = random::normal({batch, queries, 2, 5}, {.dtype = dtype});
  drawn.key = random::normal({batch, keys, 2, 5}, {.dtype = dtype});
  drawn.value = random::normal({batch, keys, 2, 3}, {.dtype = dtype});
  return drawn;
}

Tensor heads_first(const Tensor& x) { return transpose(x, {0, 2, 1, 3}); }

Tensor by_whole_matrices(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask, bool causal) {
  Tensor scores = matmul(heads_first(query), heads_first(key), {.transpose_b = true}) / std::sqrt(5.0);
  if (mask.defined()) scores = where(mask, scores, -1e9);
  if (causal) {
    const Tensor i = expand_dims(arange(query.shape()[1]), 1), k = expand_dims(arange(key.shape()[1]), 0);
    scores = where(k <= i + (key.shape()[1].value() - query.shape()[1].value()), scores, -std::numeric_limits<double>::infinity());
  }
  return heads_first(matmul(softmax(scores), heads_first(value)));
}

std::vector<Tensor> pulled(const Operands& in, const std::function<Tensor(const Operands&)>& attend) {
  GradientTape tape;
  const std::vector<Tensor> sources = {in.query, in.key, in.value};
  for (const Tensor& source : sources) tape.watch(source);
  const Tensor y = attend(in);
  std::vector<Tensor> results = tape.gradient(sum(y * y + y), sources);
  results.push_back(y);
  return results;
}

TEST(Attention, many_tiles_give_what_one_matrix_gives) {
  random::set_seed(1);
  for (const Dtype dtype : {f32, f64}) {
    for (const bool causal : {false, true}) {
      for (const bool masked : {false, true}) {
        const Operands in = draw(2, 150, 600, dtype);
        Tensor mask;
        if (masked) mask = random::bernoulli({2, 1, 150, 600}, {.probability = 0.3});
        const std::vector<Tensor> got = pulled(
            in, [&](const Operands& x) { return dot_product_attention(x.query, x.key, x.value, {.mask = mask, .is_causal = causal}); });
        const std::vector<Tensor> want =
            pulled(in, [&](const Operands& x) { return by_whole_matrices(x.query, x.key, x.value, mask, causal); });
        const double close = dtype == f32 ? 2e-4 : 1e-10;
        for (size_t i = 0; i < got.size(); ++i) {
          EXPECT_TRUE(all_close(got[i], want[i], {.relative = close, .absolute = close}))
              << to_string(dtype) << (causal ? " causal" : "") << (masked ? " masked" : "") << ", tensor " << i;
        }
      }
    }
  }
}

TEST(Attention, causal_rows_are_the_same_whole_and_in_pieces_behind_the_keys_before) {
  random::set_seed(3);
  for (const Dtype dtype : {f32, f64}) {
    const Operands in = draw(2, 700, 700, dtype);
    const Tensor whole = dot_product_attention(in.query, in.key, in.value, {.is_causal = true});
    int64_t begin = 0;
    for (const int64_t length : {1, 0, 62, 64, 2, 256, 130, 1, 184}) {
      const int64_t end = begin + length;
      const auto upto = [&](const Tensor& x) { return slice(x, {{}, {.end = end}}); };
      const Tensor piece =
          dot_product_attention(slice(in.query, {{}, {.begin = begin, .end = end}}), upto(in.key), upto(in.value), {.is_causal = true});
      const double close = dtype == f32 ? 1e-6 : 1e-14;
      EXPECT_TRUE(all_close(piece, slice(whole, {{}, {.begin = begin, .end = end}}), {.relative = close, .absolute = close}))
          << to_string(dtype) << ", queries " << begin << " to " << end;
      begin = end;
    }
    EXPECT_EQ(begin, 700);
  }
}

// Tiles without any key, tiles in which some queries have none, and tiles in which all have.
TEST(Attention, queries_that_causality_leaves_no_key_give_0_and_gradients_of_0) {
  random::set_seed(4);
  constexpr int64_t queries = 400, keys = 300, blind = queries - keys;
  const Tensor mask = random::bernoulli({2, 1, queries, keys}, {.probability = 0.9});
  for (const Dtype dtype : {f32, f64}) {
    for (const bool masked : {false, true}) {
      const Operands in = draw(2, queries, keys, dtype);
      const auto attend = [&](const Operands& x, int64_t first) {
        return dot_product_attention(x.query, x.key, x.value,
                                     {.mask = masked ? slice(mask, {{}, {}, {.begin = first}}) : Tensor(), .is_causal = true});
      };
      const std::vector<Tensor> got = pulled(in, [&](const Operands& x) { return attend(x, 0); });
      const Operands seeing{slice(in.query, {{}, {.begin = blind}}), in.key, in.value};
      const std::vector<Tensor> want = pulled(seeing, [&](const Operands& x) { return attend(x, blind); });
      const double close = dtype == f32 ? 2e-5 : 1e-12;
      const CloseOptions closely{.relative = close, .absolute = close};
      for (const size_t i : {size_t{0}, size_t{3}}) {  // the gradient of the query, and the result
        const Tensor nothing = slice(got[i], {{}, {.end = blind}});
        EXPECT_TRUE(all_equal(nothing, zeros_like(nothing))) << to_string(dtype) << ", tensor " << i;
        EXPECT_TRUE(all_close(slice(got[i], {{}, {.begin = blind}}), want[i], closely)) << to_string(dtype) << ", tensor " << i;
      }
      for (const size_t i : {size_t{1}, size_t{2}})
        EXPECT_TRUE(all_close(got[i], want[i], closely)) << to_string(dtype) << ", tensor " << i;
    }
  }
}

TEST(Attention, causal_gradients_agree_with_differences_for_few_and_for_many_queries) {
  for (const auto& [queries, keys] : {std::pair<int64_t, int64_t>{2, 5}, {5, 2}, {3, 3}, {1, 4}, {4, 0}}) {
    const Operands in = draw(2, queries, keys, f64);
    check_gradients([](const std::vector<Tensor>& x) { return dot_product_attention(x[0], x[1], x[2], {.is_causal = true}); },
                    {in.query, in.key, in.value}, 1e-5);
  }
}

TEST(Attention, a_query_without_keys_takes_their_mean_and_leads_no_gradient_to_them) {
  const Operands in = draw(1, 1, 4, f64);
  const Tensor hidden = zeros({1, 1, 1, 4}, {.dtype = b8});
  const std::vector<Tensor> got =
      pulled(in, [&](const Operands& x) { return dot_product_attention(x.query, x.key, x.value, {.mask = hidden}); });
  EXPECT_TRUE(all_close(got[3], mean(in.value, {.axes = {1}, .keep_dims = true})));
  EXPECT_TRUE(all_equal(got[0], zeros_like(in.query)));
  EXPECT_TRUE(all_equal(got[1], zeros_like(in.key)));
  const Tensor dy = 2 * got[3] + 1;
  EXPECT_TRUE(all_close(got[2], broadcast_to(dy / 4, in.value.shape())));
}

TEST(Attention, has_the_same_bits_for_any_number_of_threads) {
  const Tensor lengths = tensor({70, 0, 300, 1, 129, 64});
  const auto run = [&] {
    random::set_seed(2);
    const Tensor flat = random::normal({564, 2, 8});
    GradientTape tape;
    tape.watch(flat);
    const Tensor x = ragged_from_lengths(flat, lengths);
    const Tensor y = dot_product_attention(x, x, x, {.is_causal = true, .dropout = 0.1}).values();
    return std::vector<Tensor>{y, tape.gradient(sum(y * y), flat)};
  };
  const std::vector<Tensor> alone = [&] {
    const runtime::ScopedPool pool(1);
    return run();
  }();
  for (const int threads : {2, 3, 8}) {
    const runtime::ScopedPool pool(threads);
    const std::vector<Tensor> got = run();
    for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(all_equal(got[i], alone[i])) << threads << " threads, tensor " << i;
  }
}

TEST(Attention, dropout_has_the_gradient_of_its_draw) {
  const Operands in = draw(2, 3, 4, f64);
  check_gradients(
      [](const std::vector<Tensor>& x) {
        random::set_seed(7);
        return dot_product_attention(x[0], x[1], x[2], {.dropout = 0.4});
      },
      {in.query, in.key, in.value}, 1e-5);
}

}  // namespace
}  // namespace anyshape::test
