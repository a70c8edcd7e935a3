// Samples of segment ops that make one element of each row.
#include "check/samples/segment_cases.h"

#include <limits>

namespace anyshape::check {
namespace {

using Fold = double (*)(const std::vector<double>& row, Dtype dtype);

double sum_of(const std::vector<double>& row, Dtype) { return std::accumulate(row.begin(), row.end(), 0.0); }
double prod_of(const std::vector<double>& row, Dtype) { return std::accumulate(row.begin(), row.end(), 1.0, std::multiplies<>()); }
double mean_of(const std::vector<double>& row, Dtype dtype) { return sum_of(row, dtype) / static_cast<double>(row.size()); }
double any_of(const std::vector<double>& row, Dtype) {
  return std::ranges::any_of(row, [](double x) { return x != 0; }) ? 1 : 0;
}
double all_of(const std::vector<double>& row, Dtype) {
  return std::ranges::all_of(row, [](double x) { return x != 0; }) ? 1 : 0;
}

double last_number(Dtype dtype, bool lowest) {
  const auto of = [lowest](auto kind) {
    using Limits = std::numeric_limits<decltype(kind)>;
    return static_cast<double>(lowest ? Limits::lowest() : Limits::max());
  };
  return dtype == f64 ? of(0.0) : dtype == f32 ? of(0.0F) : dtype == i64 ? of(int64_t{0}) : of(int32_t{0});
}

double extreme_of(const std::vector<double>& row, Dtype dtype, bool greatest) {
  if (row.empty()) return last_number(dtype, greatest);
  double best = row[0];
  for (const double value : row) {
    if (std::isnan(value) || std::isnan(best)) return std::numeric_limits<double>::quiet_NaN();
    if (greatest ? value > best : value < best) best = value;
  }
  return best;
}
double max_of(const std::vector<double>& row, Dtype dtype) { return extreme_of(row, dtype, true); }
double min_of(const std::vector<double>& row, Dtype dtype) { return extreme_of(row, dtype, false); }

double logsumexp_of(const std::vector<double>& row, Dtype) {
  double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double value : row) greatest = std::max(greatest, value);
  for (const double value : row) sum += std::exp(value - greatest);
  return row.empty() ? greatest : std::log(sum) + greatest;
}

Dtype same(Dtype dtype) { return dtype; }
Dtype counting(Dtype dtype) { return dtype == b8 ? i32 : dtype; }
Dtype floating(Dtype dtype) { return is_floating(dtype) ? dtype : f32; }
Dtype truth(Dtype) { return b8; }

OpSample reduce_sample(const std::string& name, const SegmentOp& op, Fold fold, Dtype (*result)(Dtype), const Domain& domain) {
  OpSample sample = segment_sample(name, op, domain);
  sample.reference = [fold, result](Flats in, int) {
    const Dtype dtype = result(in[0].dtype);
    return std::vector<Flat>{per_row(in[0], bounds_of(in), dtype, [&](const std::vector<double>& row) { return fold(row, dtype); })};
  };
  sample.inputs = [domain](Random& random, Dtype dtype, int number) { return filled_segment_inputs(random, dtype, number, domain); };
  sample.f32 = {1e-5, 1e-5};
  sample.absolute_per_element = 1e-6;
  sample.differentiable = {0};
  sample.second_order = true;
  return sample;
}

// Rows of a fixed length each but the last: none is empty, but there may be no row at all.
OpSample arg_sample(const std::string& name, const SegmentOp& op, bool greatest) {
  OpSample sample = segment_sample(name, op, {.zeros = false, .exact = {0, 0, 1, 1, 2}});
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    Sizes sizes = random.sizes(number % 3 + 1);
    const int64_t rows = sizes[0] / 2;
    if (rows == 0) sizes[0] = 0;
    return std::vector<InputPlan>{{sizes, dtype, {.zeros = false, .exact = {0, 0, 1, 1, 2}}}, {{rows}, i32, {}}};
  };
  sample.call = [op](Tensors in, int) {
    const Tensor starts = 2 * arange(in[1].shape()[0], {.dtype = i64});
    return std::vector<Tensor>{op(in[0], concat({starts, reshape(size(in[0], 0), {1})}))};
  };
  sample.reference = [greatest](Flats in, int) {
    Bounds bounds;
    for (int64_t row = 0; row < in[1].sizes[0]; ++row) bounds.push_back(2 * row);
    bounds.push_back(in[0].sizes[0]);
    return std::vector<Flat>{per_row(in[0], bounds, i32, [&](const std::vector<double>& row) {
      size_t best = 0;
      for (size_t i = 1; i < row.size(); ++i) {
        if (std::isnan(row[best])) break;
        if (std::isnan(row[i]) || (greatest ? row[i] > row[best] : row[i] < row[best])) best = i;
      }
      return static_cast<double>(best);
    })};
  };
  sample.wrong.push_back(wrong<DataError>([op] { return op(ones({3}), splits({0, 1, 1, 3})); },
                                          {name + ": row 1 is empty; expected at least one element in every row."}));
  return sample;
}

// The greatest of no halves is found in f32, whose lowest number no half can hold.
OpSample without_halves(OpSample sample) {
  sample.halves = false;
  return sample;
}

}  // namespace

std::vector<OpSample> segment_reduce_samples() {
  const Domain near_one{.low = 0.5, .high = 1.5, .zeros = true, .infinities = false, .nan = false, .extremes = false};
  const Domain choices{.zeros = false, .exact = {0, 0, 1, 1, 2}};
  OpSample mean_sample = composed(reduce_sample("mean", segment::mean, mean_of, floating, ordinary_numbers));
  mean_sample.wrong = wrong_splits("segment::mean", segment::mean, "segment_sum");
  return {
      with_dtypes(reduce_sample("sum", segment::sum, sum_of, counting, ordinary_numbers), {f32, f64, i32, i64, b8}),
      with_dtypes(reduce_sample("prod", segment::prod, prod_of, counting, near_one), {f32, f64, i32}),
      without_halves(with_dtypes(reduce_sample("max", segment::max, max_of, same, choices), {f32, f64, i32, i64})),
      without_halves(with_dtypes(reduce_sample("min", segment::min, min_of, same, choices), {f32, f64, i32})),
      std::move(mean_sample),
      with_dtypes(reduce_sample("logsumexp", segment::logsumexp, logsumexp_of, floating, ordinary_numbers), {f32, f64}),
      without_gradient(with_dtypes(reduce_sample("any", segment::any, any_of, truth, choices), {b8, i32, f32})),
      without_gradient(with_dtypes(reduce_sample("all", segment::all, all_of, truth, choices), {b8, i32, f32})),
      arg_sample("argmax", segment::argmax, true),
      arg_sample("argmin", segment::argmin, false),
  };
}

}  // namespace anyshape::check
