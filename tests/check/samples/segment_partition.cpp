// Samples of what splits say, and of ops that move rows.
#include "check/samples/segment_cases.h"
#include "graph/ragged.h"
#include "ops/segment/packed_rows.h"

#include <anyshape/ragged.h>

namespace anyshape::check {
namespace {

int64_t row_of(const Bounds& bounds, int64_t element) { return std::ranges::upper_bound(bounds, element) - bounds.begin() - 1; }

// A vector of integers that follows from the splits alone; `element` gives its numbers.
OpSample partition_sample(const std::string& name, const std::function<Tensor(const Tensor& splits, const Dim& total)>& call,
                          std::function<std::vector<double>(const Bounds&)> element) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.dtypes = {f32};
  sample.call = [call](Tensors in, int) { return std::vector<Tensor>{call(splits_of(in[0], in[1]), in[0].shape()[0])}; };
  sample.inputs = [](Random& random, Dtype dtype, int) { return segment_inputs(random, dtype, 0, {}); };
  sample.reference = [element](Flats in, int) {
    const std::vector<double> values = element(bounds_of(in));
    return std::vector<Flat>{{i64, {static_cast<int64_t>(values.size())}, values}};
  };
  return sample;
}

OpSample row_starts_sample() {
  OpSample sample = partition_sample(
      "row_starts", [](const Tensor& splits, const Dim&) { return segment::row_starts(splits); },
      [](const Bounds& bounds) { return std::vector<double>(bounds.begin(), bounds.end() - 1); });
  sample.wrong = {
      wrong<ShapeError>([] { return segment::row_starts(zeros({0}, {.dtype = i64})); }, {"row_starts: there is no row split"}),
      wrong<ShapeError>([] { return segment::row_starts(tensor({{0, 1}})); }, {"row_starts: row splits have rank 2", "i64[1, 2]"}),
      wrong<DtypeError>([] { return segment::row_starts(ones({2})); }, {"row_starts: row splits are f32"}),
  };
  return sample;
}

OpSample row_lengths_sample() {
  OpSample sample = partition_sample(
      "row_lengths", [](const Tensor& splits, const Dim&) { return segment::row_lengths(splits); },
      [](const Bounds& bounds) {
        std::vector<double> lengths;
        for (size_t row = 1; row < bounds.size(); ++row) lengths.push_back(static_cast<double>(bounds[row] - bounds[row - 1]));
        return lengths;
      });
  sample.wrong = {
      wrong<ShapeError>([] { return segment::row_lengths(zeros({0}, {.dtype = i64})); }, {"row_lengths: there is no row split"}),
      wrong<ShapeError>([] { return segment::row_lengths(1); }, {"row_lengths: row splits have rank 0"}),
      wrong<DtypeError>([] { return segment::row_lengths(ones({2})); }, {"row_lengths: row splits are f32"}),
  };
  return sample;
}

OpSample row_ids_sample() {
  OpSample sample = partition_sample("row_ids", segment::row_ids, [](const Bounds& bounds) {
    std::vector<double> ids;
    for (int64_t i = 0; i < bounds.back(); ++i) ids.push_back(static_cast<double>(row_of(bounds, i)));
    return ids;
  });
  sample.wrong = {
      wrong<DataError>([] { return segment::row_ids(splits({0, 2, 1}), 1); }, {"row_ids: row split 1 at position 2 is out of order"}),
      wrong<DataError>([] { return segment::row_ids(splits({0, 2}), 3); }, {"row_ids: row split 2 at position 1", "end at 3"}),
      wrong<ShapeError>([] { return segment::row_ids(splits({0, 2}), -1); }, {"row_ids: the number of elements is -1"}),
  };
  return sample;
}

OpSample row_positions_sample() {
  OpSample sample = composed(partition_sample("row_positions", segment::row_positions, [](const Bounds& bounds) {
    std::vector<double> indices;
    for (int64_t i = 0; i < bounds.back(); ++i) {
      indices.push_back(static_cast<double>(i - bounds[static_cast<size_t>(row_of(bounds, i))]));
    }
    return indices;
  }));
  sample.wrong = {
      wrong<DataError>([] { return segment::row_positions(splits({0, 2, 1}), 1); }, {"row_ids: row split 1 at position 2 is out of order"}),
      wrong<DataError>([] { return segment::row_positions(splits({0, 2}), 3); }, {"row_ids: row split 2 at position 1", "end at 3"}),
      wrong<ShapeError>([] { return segment::row_positions(splits({0, 2}), -1); }, {"row_positions: the number of elements is -1"}),
  };
  return sample;
}

OpSample splits_from_lengths_sample() {
  OpSample sample = composed(partition_sample(
      "splits_from_lengths", [](const Tensor& splits, const Dim&) { return segment::splits_from_lengths(segment::row_lengths(splits)); },
      [](const Bounds& bounds) { return std::vector<double>(bounds.begin(), bounds.end()); }));
  sample.wrong = {
      wrong<ShapeError>([] { return segment::splits_from_lengths(tensor({{1}})); }, {"splits_from_lengths: lengths are no vector"}),
      wrong<DtypeError>([] { return segment::splits_from_lengths(ones({2})); }, {"splits_from_lengths: lengths are f32"}),
      wrong<DataError>([] { return segment::sum(ones({1}), segment::splits_from_lengths(tensor({2, -1}))); }, {"segment_sum: row split 1"}),
  };
  return sample;
}

OpSample repeat_sample() {
  const auto call = [](const Tensor& x, const Tensor& splits) { return segment::repeat(x, splits, 3); };
  OpSample sample = segment_sample("repeat", call, {});
  sample.dtypes = {f32, f64, i32, b8};
  // Input 0 has one element per row; the values that input 2 stands for are cut.
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    Sizes sizes = random.sizes(number % 3 + 1);
    sizes[0] = std::max<int64_t>(sizes[0], 1);
    const int64_t total = std::min<int64_t>(random.size(), 64);
    const Domain anywhere{.low = 0, .high = static_cast<double>(total)};
    return std::vector<InputPlan>{{sizes, dtype, {}}, {{sizes[0] - 1}, i64, anywhere}, {{total}, f32, {}}};
  };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{segment::repeat(in[0], splits_of(in[2], in[1]), in[2].shape()[0])}; };
  sample.reference = [](Flats in, int) {
    const Bounds bounds = bounds_of(in[2], in[1]);
    Sizes sizes = in[0].sizes;
    sizes[0] = in[2].sizes[0];
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](Sizes index) {
      index[0] = row_of(bounds, index[0]);
      return in[0].values[static_cast<size_t>(ravel(index, in[0].sizes))];
    })};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([call] { return call(ones({2}), splits({0, 3})); },
                        {"segment::repeat: there is not one element per row", "f32[2]"}),
      wrong<ShapeError>([call] { return call(1, splits({0, 3})); }, {"segment::repeat: the values have no axis"}),
      wrong<DataError>([call] { return call(ones({1}), splits({0, 4})); }, {"row_ids: row split 4 at position 1", "end at 3"}),
      wrong<DtypeError>([call] { return call(ones({1}), ones({2})); }, {"segment::repeat: row splits are f32"}),
  };
  return sample;
}

// Padded to 3, so that rows are cut, filled up and fit.
OpSample to_padded_sample() {
  const auto call = [](const Tensor& x, const Tensor& splits) { return segment::to_padded(x, splits, 3, {.value = 1}); };
  OpSample sample = segment_sample("to_padded", call, {});
  sample.name = "to_padded";
  sample.ops = {"to_padded"};
  sample.dtypes = {f32, f64, i32, i64, b8};
  sample.reference = [](Flats in, int) {
    const Bounds bounds = bounds_of(in);
    Sizes sizes = {static_cast<int64_t>(bounds.size()) - 1, 3};
    sizes.insert(sizes.end(), in[0].sizes.begin() + 1, in[0].sizes.end());
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](const Sizes& index) {
      Sizes from(index.begin() + 1, index.end());
      from[0] += bounds[static_cast<size_t>(index[0])];
      return from[0] < bounds[static_cast<size_t>(index[0]) + 1] ? in[0].values[static_cast<size_t>(ravel(from, in[0].sizes))] : 1.0;
    })};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = wrong_splits("to_padded", call);
  sample.wrong.push_back(wrong<ShapeError>([] { return segment::to_padded(ones({1}), splits({0, 1}), -1); }, {"to_padded: shape [1, -1]"}));
  return sample;
}

OpSample from_padded_sample() {
  const auto call = [](const Tensor& x, const Tensor& splits) { return segment::from_padded(x, splits, 3); };
  OpSample sample = repeat_sample();
  sample.name = "from_padded";
  sample.ops = {"from_padded"};
  const auto of_repeat = sample.inputs;
  sample.inputs = [of_repeat](Random& random, Dtype dtype, int number) {
    std::vector<InputPlan> plans = of_repeat(random, dtype, number);
    plans[0].sizes.insert(plans[0].sizes.begin() + 1, std::min<int64_t>(random.size(), 8));
    return plans;
  };
  sample.call = [](Tensors in, int) { return std::vector<Tensor>{segment::from_padded(in[0], splits_of(in[2], in[1]), in[2].shape()[0])}; };
  sample.reference = [](Flats in, int) {
    const Bounds bounds = bounds_of(in[2], in[1]);
    Sizes sizes(in[0].sizes.begin() + 1, in[0].sizes.end());
    sizes[0] = in[2].sizes[0];
    return std::vector<Flat>{flat_from(in[0].dtype, sizes, [&](Sizes index) {
      const int64_t row = row_of(bounds, index[0]);
      index[0] -= bounds[static_cast<size_t>(row)];
      if (index[0] >= in[0].sizes[1]) return 0.0;
      index.insert(index.begin(), row);
      return in[0].values[static_cast<size_t>(ravel(index, in[0].sizes))];
    })};
  };
  sample.wrong = {
      wrong<ShapeError>([call] { return call(ones({2, 3}), splits({0, 3})); },
                        {"from_padded: there is not one padded row per row", "f32[2, 3]"}),
      wrong<ShapeError>([call] { return call(ones({1}), splits({0, 3})); }, {"from_padded: the padded tensor has rank 1"}),
      wrong<DataError>([call] { return call(ones({1, 2}), splits({0, 4})); }, {"from_padded: row split 4 at position 1", "end at 3"}),
  };
  return sample;
}

// Rows from the shortest to the longest: all are there, so the total stays.
OpSample gather_rows_sample() {
  const auto call = [](const Tensor& x, const Tensor& splits) {
    return segment::gather_rows({x, splits}, argsort(segment::row_lengths(splits)), x.shape()[0]).values;
  };
  OpSample sample = composed(segment_sample("gather_rows", call, {}));
  sample.reference = [](Flats in, int) {
    const Bounds bounds = bounds_of(in);
    std::vector<size_t> order(bounds.size() - 1);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](size_t row) { return std::pair(bounds[row + 1] - bounds[row], row); });
    const auto width = count_of({in[0].sizes.begin() + 1, in[0].sizes.end()});
    Flat result{in[0].dtype, in[0].sizes, {}};
    for (const size_t row : order) {
      result.values.insert(result.values.end(), in[0].values.begin() + bounds[row] * width, in[0].values.begin() + bounds[row + 1] * width);
    }
    return std::vector<Flat>{std::move(result)};
  };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<DataError>([] { return segment::gather_rows({ones({3}), splits({0, 3})}, tensor({1}), 3).values; }, {"take: index 1"}),
      wrong<DataError>([] { return segment::gather_rows({ones({3}), splits({0, 3})}, tensor({0, 0}), 3).values; },
                       {"row_ids: row split 6 at position 2", "end at 3"}),
      wrong<DataError>([] { return segment::gather_rows({ones({3}), splits({0, 4})}, tensor({0}), 4).values; }, {"take: index 3"}),
      wrong<DtypeError>([] { return segment::gather_rows({ones({3}), splits({0, 3})}, ones({1}), 3).values; },
                        {"segment::gather_rows: indices are f32"}),
  };
  return sample;
}

// Forwards and backwards. Outside a trace the longest row is known, inside one it is found.
OpSample packed_rows_sample() {
  OpSample sample;
  sample.name = "packed_rows";
  sample.ops = {"packed_rows"};
  sample.dtypes = {f32};
  sample.cases = 2;
  sample.inputs = [](Random& random, Dtype dtype, int) { return segment_inputs(random, dtype, 0, {}); };
  sample.call = [](Tensors in, int number) {
    const Tensor x = ragged_from_splits(in[0], splits_of(in[0], in[1]));
    const PackedRows packed = packed_rows(*as_ragged(x)->partition, number == 1);
    return std::vector<Tensor>{packed.order, packed.ranks, packed.positions, packed.indices, packed.counts};
  };
  sample.reference = [](Flats in, int number) {
    const Bounds bounds = bounds_of(in);
    const auto length_of = [&](size_t row) { return bounds[row + 1] - bounds[row]; };
    std::vector<size_t> order(bounds.size() - 1);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](size_t row) { return std::pair(-length_of(row), row); });
    const auto vector = [](size_t size) { return Flat{i64, {static_cast<int64_t>(size)}, std::vector<double>(size)}; };
    Flat rows = vector(order.size()), ranks = rows, counts = vector(static_cast<size_t>(length_of(order[0])));
    Flat positions = vector(static_cast<size_t>(bounds.back())), indices = positions;
    for (size_t rank = 0; rank < order.size(); ++rank) {
      rows.values[rank] = static_cast<double>(order[rank]);
      ranks.values[order[rank]] = static_cast<double>(rank);
    }
    size_t index = 0;
    for (int64_t step = 0; step < counts.sizes[0]; ++step) {
      for (const size_t row : order) {
        if (length_of(row) <= step) continue;
        const int64_t position = number == 1 ? bounds[row + 1] - 1 - step : bounds[row] + step;
        positions.values[index] = static_cast<double>(position);
        indices.values[static_cast<size_t>(position)] = static_cast<double>(index++);
        counts.values[static_cast<size_t>(step)] += 1;
      }
    }
    return std::vector<Flat>{rows, ranks, positions, indices, counts};
  };
  const auto packed = [](const Tensor& rows, const Dim& total, const Dim& longest) {
    return packed_rows({.splits = rows, .rows = 0, .total = total, .shortest = 0, .longest = longest, .axis = 0}, false).counts;
  };
  sample.wrong = {
      wrong<DataError>([packed] { return packed(splits({0, 2, 1}), 1, 2); }, {"packed_rows: row split 1 at position 2 is out of order"}),
      wrong<DataError>([packed] { return packed(splits({0, 2}), 3, 2); }, {"packed_rows: row split 2 at position 1", "end at 3"}),
      wrong<ShapeError>([packed] { return packed(splits({0, 2}), -1, 2); }, {"packed_rows: the number of elements is -1"}),
      wrong<ShapeError>([packed] { return packed(splits({0, 2}), 2, -1); }, {"packed_rows: the length of the longest row is -1"}),
      wrong<ShapeError>([packed] { return packed(1, 0, 0); }, {"packed_rows: row splits have rank 0"}),
  };
  return sample;
}

OpSample concat_sample(bool each_row) {
  using Rows = segment::Rows;
  using Concat = Rows (*)(const std::vector<Rows>&);
  const Concat op = each_row ? static_cast<Concat>(segment::concat_each_row) : static_cast<Concat>(segment::concat);
  OpSample sample;
  sample.name = each_row ? "segment concat_each_row" : "segment concat";
  sample.cases = 3;
  sample.dtypes = {f32, f64, i32};
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    std::vector<InputPlan> plans = segment_inputs(random, dtype, number, ordinary_numbers), more = plans;
    more[0].sizes[0] = std::min<int64_t>(random.size(), 33);
    more[1].domain.high = static_cast<double>(more[0].sizes[0]);
    plans.insert(plans.end(), more.begin(), more.end());
    return plans;
  };
  sample.call = [op](Tensors in, int) {
    const Rows joined = op({{in[0], splits_of(in[0], in[1])}, {in[2], splits_of(in[2], in[3])}});
    return std::vector<Tensor>{joined.values, joined.splits};
  };
  sample.reference = [each_row](Flats in, int) {
    const Bounds of[] = {bounds_of(in[0], in[1]), bounds_of(in[2], in[3])};
    const auto width = count_of({in[0].sizes.begin() + 1, in[0].sizes.end()});
    Sizes sizes = in[0].sizes;
    sizes[0] += in[2].sizes[0];
    Flat values{in[0].dtype, sizes, {}}, bounds{i64, {}, {0}};
    const auto append = [&](size_t part, size_t row) {
      const Flat& x = in[2 * part];
      values.values.insert(values.values.end(), x.values.begin() + of[part][row] * width, x.values.begin() + of[part][row + 1] * width);
    };
    const auto end_row = [&](int64_t length) { bounds.values.push_back(bounds.values.back() + static_cast<double>(length)); };
    const auto length = [&](size_t part, size_t row) { return of[part][row + 1] - of[part][row]; };
    for (size_t part = 0; part < (each_row ? 1U : 2U); ++part) {
      for (size_t row = 0; row + 1 < of[part].size(); ++row) {
        append(part, row);
        if (each_row) append(1, row);
        end_row(length(part, row) + (each_row ? length(1, row) : 0));
      }
    }
    bounds.sizes = {bounds.count()};
    return std::vector<Flat>{std::move(values), std::move(bounds)};
  };
  sample.differentiable = {0, 2};
  sample.wrong = {
      wrong<ArgumentError>([op] { return op({}).values; }, {"expected at least one part"}),
      wrong<ArgumentError>([op] { return op({{ones({1}), Tensor()}}).values; }, {"expected values and splits"}),
      wrong<ShapeError>([op] { return op({{ones({1}), splits({0, 1})}, {ones({1, 2}), splits({0, 1})}}).values; }, {"concat", "f32[1, 2]"}),
  };
  if (each_row) {
    sample.wrong.push_back(wrong<ShapeError>([op] { return op({{ones({1}), splits({0, 1})}, {ones({1}), splits({0, 1, 1})}}).values; },
                                             {"segment::concat_each_row: parts have 1 and 2 rows; expected as many rows in each part."}));
  }
  return sample;
}

// The splits twice, so that they are equal; row splits that are not are refused.
OpSample same_rows_sample() {
  const auto call = [](const Tensor& x, const Tensor& splits) { return same_rows(x, splits, splits); };
  OpSample sample = segment_sample("same_rows", call, {});
  sample.name = "same_rows";
  sample.ops = {"same_rows"};
  sample.reference = [](Flats in, int) { return std::vector<Flat>{in[0]}; };
  sample.differentiable = {0};
  sample.second_order = true;
  sample.wrong = {
      wrong<ShapeError>([] { return same_rows(ones({3}), splits({0, 1, 3}), splits({0, 2, 3})); },
                        {"ragged operands: rows differ: row 0 has 1 elements"}),
      wrong<ShapeError>([] { return same_rows(ones({3}), splits({0, 3}), splits({0, 2, 3})); },
                        {"same_rows: numbers of rows differ", "i64[2]", "i64[3]"}),
      wrong<DtypeError>([] { return same_rows(ones({3}), tensor({0.F, 3.F}), splits({0, 3})); }, {"same_rows: row splits are f32"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> segment_partition_samples() {
  return {row_starts_sample(),  row_lengths_sample(), row_ids_sample(),     row_positions_sample(), splits_from_lengths_sample(),
          repeat_sample(),      to_padded_sample(),   from_padded_sample(), gather_rows_sample(),   packed_rows_sample(),
          concat_sample(false), concat_sample(true),  same_rows_sample()};
}

}  // namespace anyshape::check
