// Samples of ops that put elements in order.
#include "check/samples/reduce_cases.h"

namespace anyshape::check {
namespace {

struct SortCase {
  int rank;
  int64_t axis;
  bool descending = false;
  int index() const { return static_cast<int>(axis < 0 ? axis + rank : axis); }
};
constexpr SortCase sort_cases[] = {{1, 0}, {2, -1, true}, {2, 0}, {3, 1, true}};

// Stable, NaN last in both directions.
std::vector<double> sorted_indices(const std::vector<double>& row, bool descending) {
  std::vector<double> indices(row.size());
  std::iota(indices.begin(), indices.end(), 0.0);
  std::ranges::sort(indices, [&](double a, double b) {
    const double left = row[static_cast<size_t>(a)], right = row[static_cast<size_t>(b)];
    if (std::isnan(left) && std::isnan(right)) return a < b;
    if (std::isnan(left) || std::isnan(right)) return std::isnan(right);
    return left == right ? a < b : (left > right) == descending;
  });
  return indices;
}

std::vector<double> sorted(const std::vector<double>& row, bool descending) {
  std::vector<double> result;
  for (const double index : sorted_indices(row, descending)) result.push_back(row[static_cast<size_t>(index)]);
  return result;
}

OpSample sort_sample(bool indices) {
  using SortOp = Tensor (*)(const Tensor&, SortOptions);
  const SortOp op = indices ? static_cast<SortOp>(argsort) : static_cast<SortOp>(sort);
  const std::string name = indices ? "argsort" : "sort";
  OpSample sample;
  sample.name = name;
  if (!indices) sample.ops = {"sort"};
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = static_cast<int>(std::size(sort_cases));
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    return std::vector<InputPlan>{{random.sizes(sort_cases[number].rank), dtype, {.exact = {0, 0, 1, 1, 2, 2, -1}}}};
  };
  sample.call = [op](Tensors in, int number) {
    return std::vector<Tensor>{op(in[0], {.axis = sort_cases[number].axis, .descending = sort_cases[number].descending})};
  };
  sample.reference = [indices](Flats in, int number) {
    const SortCase how = sort_cases[number];
    return std::vector<Flat>{along(in[0], how.index(), indices ? i32 : in[0].dtype, [&](const std::vector<double>& row) {
      return indices ? sorted_indices(row, how.descending) : sorted(row, how.descending);
    })};
  };
  if (!indices) sample.differentiable = {0};
  sample.second_order = !indices;
  sample.wrong = {
      wrong<ShapeError>([op] { return op(ones({2, 3}), {.axis = 2}); }, {"sort: axis 2 is outside the rank 2", "f32[2, 3]"}),
      wrong<ShapeError>([op] { return op(1.0F, {}); }, {"sort: axis -1 is outside the rank 0"}),
      wrong<ArgumentError>([op] { return op(Tensor(), {}); }, {"expected a tensor with a value"}),
  };
  return sample;
}

OpSample top_k_sample() {
  OpSample sample;
  sample.name = "top_k";
  sample.ops = {"top_k"};
  sample.dtypes = {f32, f64, i32, u8};
  sample.cases = 2;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    Sizes sizes = random.sizes(2);
    sizes[static_cast<size_t>(1 - number)] = std::max<int64_t>(sizes[static_cast<size_t>(1 - number)], 2);
    return std::vector<InputPlan>{{sizes, dtype, {.exact = {0, 0, 1, 1, 2, 2}}}};
  };
  sample.call = [](Tensors in, int number) {
    const TopK best = top_k(in[0], 2, {.axis = 1 - number});
    return std::vector<Tensor>{best.values, best.indices};
  };
  sample.reference = [](Flats in, int number) {
    const auto axis = static_cast<size_t>(1 - number);
    std::vector<Flat> results;
    for (const bool indices : {false, true}) {
      const Flat all = along(in[0], 1 - number, indices ? i32 : in[0].dtype,
                             [&](const std::vector<double>& row) { return indices ? sorted_indices(row, true) : sorted(row, true); });
      Sizes sizes = all.sizes;
      sizes[axis] = 2;
      results.push_back(
          flat_from(all.dtype, sizes, [&](const Sizes& index) { return all.values[static_cast<size_t>(ravel(index, all.sizes))]; }));
    }
    return results;
  };
  sample.differentiable = {0};
  sample.wrong = {
      wrong<ShapeError>([] { return top_k(ones({2}), 3).values; }, {"top_k: k is 3", "f32[2]"}),
      wrong<ShapeError>([] { return top_k(ones({2}), -1).values; }, {"top_k: k is -1"}),
      wrong<ShapeError>([] { return top_k(ones({2}), 1, {.axis = 1}).values; }, {"top_k: axis 1 is outside the rank 1"}),
  };
  return sample;
}

OpSample search_sorted_sample() {
  OpSample sample;
  sample.name = "search_sorted";
  sample.ops = {"search_sorted"};
  sample.dtypes = {f32, f64, i32, i64, u8};
  sample.cases = 4;
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    const Domain few{.low = -3, .high = 3, .nan = false, .exact = {1, 1, 2, 2, -1}};
    return std::vector<InputPlan>{{random.sizes(1), dtype, few}, {random.sizes(number / 2 + 1), dtype, few}};
  };
  sample.call = [](Tensors in, int number) {
    return std::vector<Tensor>{search_sorted(sort(in[0]), in[1], {.side = number % 2 == 0 ? SearchSide::Left : SearchSide::Right})};
  };
  sample.reference = [](Flats in, int number) {
    std::vector<double> row = in[0].values;
    std::ranges::sort(row);
    Flat result{i32, in[1].sizes, {}};
    for (const double value : in[1].values) {
      const auto bound = number % 2 == 0 ? std::ranges::lower_bound(row, value) : std::ranges::upper_bound(row, value);
      result.values.push_back(static_cast<double>(bound - row.begin()));
    }
    return std::vector<Flat>{std::move(result)};
  };
  sample.wrong = {
      wrong<ShapeError>([] { return search_sorted(ones({2, 2}), ones({2})); },
                        {"search_sorted: the sorted values are no vector", "f32[2, 2]"}),
      wrong<ShapeError>([] { return search_sorted(1.0F, ones({2})); }, {"search_sorted: the sorted values are no vector"}),
      wrong<ArgumentError>([] { return search_sorted(ones({2}), Tensor()); }, {"expected a tensor with a value"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> order_samples() { return {sort_sample(false), sort_sample(true), top_k_sample(), search_sorted_sample()}; }

}  // namespace anyshape::check
