// Samples of attention: every query by itself, in double, with the whole row of its weights.
#include "check/samples/segment_cases.h"

#include <anyshape/ragged.h>

#include <cmath>

namespace anyshape::check {
namespace {

struct AttentionCase {
  bool ragged_queries = false, ragged_keys = false;
  bool causal = false;
  int mask = 0;  // none; one for all rows and heads; one per row and key; one for every pair
  bool scaled = false;
};
constexpr AttentionCase attention_cases[] = {
    {},
    {.causal = true, .scaled = true},
    {.mask = 2},
    {.causal = true, .mask = 3},
    {.mask = 1},
    {.ragged_queries = true, .ragged_keys = true},
    {.ragged_queries = true, .ragged_keys = true, .causal = true, .mask = 3},
    {.ragged_queries = true, .mask = 2, .scaled = true},
    {.ragged_keys = true, .causal = true},
    {.causal = true},
    {.ragged_queries = true, .ragged_keys = true, .causal = true},
    {.ragged_queries = true, .causal = true},
};
constexpr double given_scale = 0.75;
constexpr int64_t longest = 8;  // that a mask reaches in ragged cases, where all values together have no more

// Inputs: query, key, value, then the mask, then cuts that make rows of the queries and keys of all rows.
struct InputNumbers {
  size_t mask, query_cuts, key_cuts;
};
InputNumbers input_numbers(const AttentionCase& how) {
  const size_t query_cuts = how.mask > 0 ? 4 : 3;
  return {3, query_cuts, query_cuts + (how.ragged_queries ? 1 : 0)};
}

std::vector<InputPlan> attention_inputs(Random& random, Dtype dtype, int number) {
  const AttentionCase how = attention_cases[number];
  const Domain domain{.low = -1.5, .high = 1.5, .infinities = false, .nan = false, .extremes = false};
  const bool is_ragged = how.ragged_queries || how.ragged_keys;
  const auto few = [&](int64_t low, int64_t high) { return random.every >= 0 ? random.every : random.between(low, high); };
  const int64_t batch = is_ragged ? std::max<int64_t>(few(1, 4), 1) : few(0, 3), heads = few(1, 3);
  const int64_t depth = few(1, random.smooth ? 2 : 9), value_depth = random.smooth ? 2 : few(1, 9);
  const auto length = [&] {
    return is_ragged && how.mask > 0 ? few(0, longest) : std::min<int64_t>(random.size(), random.smooth ? 3 : 65);
  };
  const int64_t queries = length(), keys = length();
  const auto shape = [&](bool cut, int64_t time, int64_t width) {
    return cut ? Sizes{time, heads, width} : Sizes{batch, time, heads, width};
  };
  std::vector<InputPlan> plans = {{shape(how.ragged_queries, queries, depth), dtype, domain},
                                  {shape(how.ragged_keys, keys, depth), dtype, domain},
                                  {shape(how.ragged_keys, keys, value_depth), dtype, domain}};
  if (how.mask > 0) {
    const int64_t mask_queries = how.ragged_queries ? longest : queries, mask_keys = how.ragged_keys ? longest : keys;
    plans.push_back({Sizes{how.mask > 1 ? batch : 1, how.mask > 2 ? heads : 1, how.mask == 2 ? 1 : mask_queries, mask_keys},
                     b8,
                     {.low = 0, .high = 1}});
  }
  const auto cuts = [&](int64_t total) { plans.push_back({{batch - 1}, i64, {.low = 0, .high = static_cast<double>(total)}}); };
  if (how.ragged_queries) cuts(queries);
  if (how.ragged_keys) cuts(keys);
  return plans;
}

std::vector<Tensor> attention_call(Tensors in, int number) {
  const AttentionCase how = attention_cases[number];
  const InputNumbers numbers = input_numbers(how);
  const auto rows = [&](const Tensor& x, bool is_cut, size_t cuts) { return is_cut ? ragged_from_splits(x, splits_of(x, in[cuts])) : x; };
  DotProductAttentionOptions options{.is_causal = how.causal};
  if (how.mask > 0) options.mask = in[numbers.mask];
  if (how.scaled) options.scale = given_scale;
  const Tensor key = rows(in[1], how.ragged_keys, numbers.key_cuts);
  const Tensor value = how.ragged_keys ? with_rows_of(in[2], key) : in[2];
  const Tensor y = dot_product_attention(rows(in[0], how.ragged_queries, numbers.query_cuts), key, value, options);
  return {y.is_ragged() ? y.values() : y};
}

// The result of one query: keys [begin, end) of the row.
struct Query {
  const Flat &query, &key, &value;
  int64_t position, head, begin, end;
  double scale;
};
double number_at(const Flat& x, int64_t position, int64_t head, int64_t k) {
  const int64_t heads = x.sizes[x.sizes.size() - 2], width = x.sizes.back();
  return x.values[static_cast<size_t>((position * heads + head) * width + k)];
}
std::vector<double> result_of(const Query& q, const std::function<bool(int64_t key)>& is_shown, int64_t last) {
  std::vector<double> scores, result(static_cast<size_t>(q.value.sizes.back()), 0.0);
  double greatest = -std::numeric_limits<double>::infinity(), total = 0;
  for (int64_t k = 0; k < std::min(q.end - q.begin, last); ++k) {
    double score = 0;
    for (int64_t d = 0; d < q.query.sizes.back(); ++d)
      score += number_at(q.query, q.position, q.head, d) * number_at(q.key, q.begin + k, q.head, d);
    scores.push_back(is_shown(k) ? score * q.scale : -1e30);
    greatest = std::max(greatest, scores.back());
  }
  for (double& score : scores) total += score = std::exp(score - greatest);
  for (size_t k = 0; k < scores.size(); ++k) {
    for (size_t d = 0; d < result.size(); ++d)
      result[d] += scores[k] / total * number_at(q.value, q.begin + static_cast<int64_t>(k), q.head, static_cast<int64_t>(d));
  }
  return result;
}

std::vector<Flat> attention_reference(Flats in, int number) {
  const AttentionCase how = attention_cases[number];
  const InputNumbers numbers = input_numbers(how);
  const auto bounds = [&](const Flat& x, bool is_cut, size_t cuts) {
    if (is_cut) return bounds_of(x, in[cuts]);
    Bounds even;
    for (int64_t row = 0; row <= x.sizes[0]; ++row) even.push_back(row * x.sizes[1]);
    return even;
  };
  const Bounds queries = bounds(in[0], how.ragged_queries, numbers.query_cuts), keys = bounds(in[1], how.ragged_keys, numbers.key_cuts);
  Flat y{in[0].dtype, in[0].sizes, {}};
  y.sizes.back() = in[2].sizes.back();
  const int64_t heads = in[0].sizes[in[0].sizes.size() - 2], depth = in[0].sizes.back();
  const double scale = how.scaled ? given_scale : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(depth, 1)));
  for (size_t row = 0; row + 1 < queries.size(); ++row) {
    for (int64_t position = queries[row]; position < queries[row + 1]; ++position) {
      for (int64_t head = 0; head < heads; ++head) {
        const int64_t i = position - queries[row];
        const auto is_shown = [&](int64_t k) {
          if (how.mask == 0) return true;
          const Flat& mask = in[numbers.mask];
          const auto along = [&](size_t axis, int64_t index) { return mask.sizes[axis] == 1 ? 0 : index; };
          const Sizes index = {along(0, static_cast<int64_t>(row)), along(1, head), along(2, i), k};
          return mask.values[static_cast<size_t>(ravel(index, mask.sizes))] != 0;
        };
        const Query query{in[0], in[1], in[2], position, head, keys[row], keys[row + 1], scale};
        // A causal mask ends where queries and keys end.
        const int64_t ahead = (keys[row + 1] - keys[row]) - (queries[row + 1] - queries[row]);
        const std::vector<double> numbers = result_of(query, is_shown, how.causal ? i + ahead + 1 : std::numeric_limits<int64_t>::max());
        y.values.insert(y.values.end(), numbers.begin(), numbers.end());
      }
    }
  }
  return {y};
}

}  // namespace

std::vector<OpSample> attention_samples() {
  OpSample sample;
  sample.name = "dot_product_attention";
  sample.ops = {"attention", "segment_attention"};
  sample.call = attention_call;
  sample.cases = static_cast<int>(std::size(attention_cases));
  sample.inputs = attention_inputs;
  sample.reference = attention_reference;
  sample.f32 = {1e-5, 1e-5};
  sample.differentiable = {0, 1, 2};
  sample.same_bits = false;
  const auto q = [](const Shape& shape) { return ones(shape); };
  sample.wrong = {
      wrong<ShapeError>([q] { return dot_product_attention(q({2, 3, 4}), q({2, 3, 4}), q({2, 3, 4})); },
                        {"dot_product_attention: an operand has rank 3", "a is f32[2, 3, 4]", "[batch, queries, heads, depth]"}),
      wrong<ShapeError>([q] { return dot_product_attention(q({2, 3, 1, 4}), q({3, 3, 1, 4}), q({3, 3, 1, 4})); },
                        {"query and key differ in batch", "a is f32[2, 3, 1, 4], b is f32[3, 3, 1, 4]"}),
      wrong<ShapeError>([q] { return dot_product_attention(q({2, 3, 1, 4}), q({2, 3, 1, 5}), q({2, 3, 1, 4})); },
                        {"query and key differ in depth"}),
      wrong<ShapeError>([q] { return dot_product_attention(q({2, 3, 2, 4}), q({2, 3, 1, 4}), q({2, 3, 1, 4})); },
                        {"query and key differ in heads"}),
      wrong<ShapeError>([q] { return dot_product_attention(q({2, 3, 1, 4}), q({2, 3, 1, 4}), q({2, 2, 1, 4})); },
                        {"there is not one value per key"}),
      wrong<ShapeError>(
          [q] { return dot_product_attention(q({2, 3, 1, 4}), q({2, 3, 1, 4}), q({2, 3, 1, 4}), {.mask = ones({2, 3}, {.dtype = b8})}); },
          {"the mask is b8[2, 3]", "[batch or 1, heads or 1, queries or 1, keys]"}),
      wrong<ShapeError>(
          [q] {
            return dot_product_attention(q({2, 3, 1, 4}), q({2, 3, 1, 4}), q({2, 3, 1, 4}), {.mask = ones({2, 1, 1, 2}, {.dtype = b8})});
          },
          {"the mask is b8[2, 1, 1, 2]"}),
      wrong<ArgumentError>([q] { return dot_product_attention(q({2, 3, 1, 4}), q({2, 3, 1, 4}), q({2, 3, 1, 4}), {.dropout = 1}); },
                           {"dropout is 1", "0 <= dropout < 1"}),
      wrong<ShapeError>(
          [q] {
            const Tensor x = ragged_from_lengths(q({3, 1, 2}), tensor({1, 2}));
            return dot_product_attention(x, x, q({2, 2, 1, 2}));
          },
          {"of key and value one is ragged"}),
      wrong<ShapeError>(
          [q] {
            const Tensor x = ragged_from_lengths(q({3, 1, 2}), tensor({1, 2}));
            return dot_product_attention(x, x, x, {.mask = ones({2, 1, 2, 1}, {.dtype = b8})});
          },
          {"segment_attention: the mask ends before row 1, which has 2 elements"}),
      wrong<ShapeError>(
          [q] {
            const Tensor x = ragged_from_lengths(q({3, 1, 2}), tensor({1, 2})), y = ragged_from_lengths(q({3, 1, 2}), tensor({3}));
            return dot_product_attention(x, y, y);
          },
          {"query and key differ in their number of rows", "inside a scan or a cell all rows of the query take part in every step"}),
  };
  return {sample};
}

}  // namespace anyshape::check
