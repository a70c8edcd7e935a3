// Samples of segment ops that change each row for itself.
#include "check/samples/segment_cases.h"

namespace anyshape::check {
namespace {

using Row = std::vector<double>;

Row log_softmax_of(const Row& row) {
  if (row.empty()) return {};
  const double highest = *std::ranges::max_element(row);
  double sum = 0;
  for (const double value : row) sum += std::exp(value - highest);
  Row result;
  for (const double value : row) result.push_back(value - highest - std::log(sum));
  return result;
}

Row softmax_of(const Row& row) {
  Row result = log_softmax_of(row);
  for (double& value : result) value = std::exp(value);
  return result;
}

Row flipped(const Row& row) { return {row.rbegin(), row.rend()}; }

Row positions_in_order(const Row& row, bool descending) {
  Row positions(row.size());
  std::iota(positions.begin(), positions.end(), 0.0);
  std::ranges::sort(positions, [&](double a, double b) {
    const double left = row[static_cast<size_t>(a)], right = row[static_cast<size_t>(b)];
    if (std::isnan(left) || std::isnan(right)) return std::isnan(left) && std::isnan(right) ? a < b : std::isnan(right);
    return left == right ? a < b : (left > right) == descending;
  });
  return positions;
}

OpSample row_sample(const std::string& name, const SegmentOp& op, const std::function<Row(const Row&)>& change,
                    std::optional<Dtype> (*result)(Dtype), const Domain& domain) {
  OpSample sample = segment_sample(name, op, domain);
  sample.reference = [change, result](Flats in, int) {
    return std::vector<Flat>{in_rows(in[0], bounds_of(in), result(in[0].dtype).value_or(in[0].dtype), change)};
  };
  sample.f32 = {1e-5, 1e-6};
  sample.differentiable = {0};
  sample.second_order = true;
  return sample;
}

std::optional<Dtype> same(Dtype) { return std::nullopt; }
std::optional<Dtype> floating(Dtype dtype) { return is_floating(dtype) ? dtype : f32; }
std::optional<Dtype> positions(Dtype) { return i32; }

template <class Combine>
std::function<Row(const Row&)> cumulated(double of_nothing, segment::CumulateOptions options, Combine combine) {
  return [=](const Row& given) {
    const Row row = options.reverse ? flipped(given) : given;
    Row result;
    double so_far = of_nothing;
    for (const double value : row) {
      const double next = combine(so_far, value);
      result.push_back(options.exclusive ? so_far : next);
      so_far = next;
    }
    return options.reverse ? flipped(result) : result;
  };
}

using CumulateOp = Tensor (*)(const Tensor&, const Tensor&, segment::CumulateOptions);

template <class Combine>
OpSample cumulate_sample(const std::string& name, CumulateOp op, double of_nothing, Combine combine, segment::CumulateOptions options,
                         const Domain& domain) {
  const auto call = [op, options](const Tensor& x, const Tensor& splits) { return op(x, splits, options); };
  OpSample sample = row_sample(name, call, cumulated(of_nothing, options, combine), same, domain);
  sample.name += options.reverse ? " reverse" : "";
  sample.name += options.exclusive ? " exclusive" : "";
  sample.f32 = {1e-4, 1e-4};
  if (options.reverse || options.exclusive) sample.dtypes = {f32, f64};
  return sample;
}

OpSample sort_sample(bool descending) {
  const auto call = [descending](const Tensor& x, const Tensor& splits) { return segment::sort(x, splits, {.descending = descending}); };
  const auto order = [descending](const Row& row) {
    Row result;
    for (const double position : positions_in_order(row, descending)) result.push_back(row[static_cast<size_t>(position)]);
    return result;
  };
  OpSample sample = row_sample("sort", call, order, same, {.zeros = false, .exact = {0, 0, 1, 1, 2}});
  sample.name += descending ? " descending" : "";
  return with_dtypes(std::move(sample), descending ? std::vector<Dtype>{f32, i64} : std::vector<Dtype>{f32, f64, i32, b8});
}

OpSample argsort_sample() {
  const auto call = [](const Tensor& x, const Tensor& splits) { return segment::argsort(x, splits, {.descending = true}); };
  OpSample sample = row_sample("sort", call, [](const Row& row) { return positions_in_order(row, true); }, positions,
                               {.zeros = false, .exact = {0, 0, 1, 1, 2}});
  sample.name = "segment argsort";
  return without_gradient(std::move(sample));
}

}  // namespace

std::vector<OpSample> segment_row_samples() {
  const Domain near_one{.low = 0.5, .high = 1.5, .zeros = true, .infinities = false, .nan = false, .extremes = false};
  const auto add = [](double a, double b) { return a + b; };
  const auto multiply = [](double a, double b) { return a * b; };
  return {
      row_sample("softmax", segment::softmax, softmax_of, floating, ordinary_numbers),
      with_dtypes(row_sample("log_softmax", segment::log_softmax, log_softmax_of, floating, ordinary_numbers), {f32, f64}),
      with_dtypes(row_sample("flip", segment::flip, flipped, same, {}), {f32, f64, i64, b8}),
      cumulate_sample("cumsum", segment::cumsum, 0, add, {}, ordinary_numbers),
      cumulate_sample("cumsum", segment::cumsum, 0, add, {.reverse = true, .exclusive = true}, ordinary_numbers),
      cumulate_sample("cumprod", segment::cumprod, 1, multiply, {.reverse = true}, near_one),
      cumulate_sample("cumprod", segment::cumprod, 1, multiply, {.exclusive = true}, near_one),
      sort_sample(false),
      sort_sample(true),
      argsort_sample(),
  };
}

}  // namespace anyshape::check
