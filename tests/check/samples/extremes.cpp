// Samples of the greatest and the least: their values, and where they stand.
#include "check/samples/reduce_cases.h"

namespace anyshape::check {
namespace {

bool is_greater(double a, double b) { return a > b; }
bool is_less(double a, double b) { return a < b; }

// The index of the first element that no other beats; a NaN beats all.
size_t best_index(const std::vector<double>& part, bool (*beats)(double, double)) {
  size_t best = 0;
  for (size_t i = 1; i < part.size() && !std::isnan(part[best]); ++i) {
    if (std::isnan(part[i]) || beats(part[i], part[best])) best = i;
  }
  return best;
}

// What stands for nothing is the finite number of the dtype that every other beats.
template <class Number>
double greatest(const std::vector<double>& part) {
  return part.empty() ? std::numeric_limits<Number>::lowest() : part[best_index(part, is_greater)];
}
template <class Number>
double least(const std::vector<double>& part) {
  return part.empty() ? std::numeric_limits<Number>::max() : part[best_index(part, is_less)];
}

OpSample extreme_of(const std::string& name, ReduceOp op, Dtype dtype, Fold fold) {
  OpSample sample = reduce_sample(name, op, fold, counting_dtype, {});
  sample.name = name + " of " + std::string(to_string(dtype));
  sample.dtypes = {dtype};
  sample.f32 = {};
  sample.absolute_per_element = 0;
  return dtype == f64 ? sample : without_gradient(std::move(sample));
}

struct IndexCase {
  int rank;
  std::optional<int64_t> axis;
  bool keep_dims = false;
};
const IndexCase index_cases[] = {{1, 0}, {2, -1}, {2, 0, true}, {3, 1}, {2, std::nullopt}, {3, std::nullopt, true}};

using IndexOp = Tensor (*)(const Tensor&, ArgExtremeOptions);

OpSample index_sample(const std::string& name, IndexOp op, bool (*beats)(double, double)) {
  OpSample sample;
  sample.name = name;
  sample.ops = {name};
  sample.dtypes = {f32, f64, i32, i64, u8, b8};
  sample.cases = static_cast<int>(std::size(index_cases));
  // Few different values, so that equal ones meet; there is always an element to choose.
  sample.inputs = [](Random& random, Dtype dtype, int number) {
    const IndexCase how = index_cases[number];
    Sizes sizes = random.sizes(how.rank);
    for (int axis = 0; axis < how.rank; ++axis) {
      int64_t& size = sizes[static_cast<size_t>(axis)];
      if (!how.axis || axis == *how.axis || axis == *how.axis + how.rank) size = std::max<int64_t>(size, 1);
    }
    return std::vector<InputPlan>{{sizes, dtype, {.low = -2, .high = 2, .exact = {2, 2, -2, -2}}}};
  };
  sample.call = [op](Tensors in, int number) {
    return std::vector<Tensor>{op(in[0], {.axis = index_cases[number].axis, .keep_dims = index_cases[number].keep_dims})};
  };
  sample.reference = [beats](Flats in, int number) {
    const IndexCase how = index_cases[number];
    ReduceCase reduction{how.rank, {}, !how.axis.has_value(), how.keep_dims};
    if (how.axis) reduction.axes = {*how.axis};
    return std::vector<Flat>{
        folded(in[0], reduction, i32, [&](const std::vector<double>& part) { return static_cast<double>(best_index(part, beats)); })};
  };
  sample.wrong = {
      wrong<ShapeError>([op] { return op(ones({2, 3}), {.axis = 2}); }, {name, "axis 2 is outside the rank 2", "f32[2, 3]"}),
      wrong<ShapeError>([op] { return op(ones({2, 0}), {.axis = 1}); }, {name + ": there is no element to choose", "f32[2, 0]"}),
      wrong<ShapeError>([op] { return op(zeros({0}), {}); }, {name + ": there is no element to choose"}),
      wrong<ArgumentError>([op] { return op(Tensor(), {}); }, {"expected a tensor with a value"}),
  };
  return sample;
}

}  // namespace

std::vector<OpSample> extreme_samples() {
  return {
      extreme_of("max", max, f32, greatest<float>),   extreme_of("max", max, f64, greatest<double>),
      extreme_of("max", max, i32, greatest<int32_t>), extreme_of("max", max, b8, greatest<int32_t>),
      extreme_of("min", min, f32, least<float>),      extreme_of("min", min, f64, least<double>),
      extreme_of("min", min, i32, least<int32_t>),    extreme_of("min", min, b8, least<int32_t>),
      index_sample("argmax", argmax, is_greater),     index_sample("argmin", argmin, is_less),
  };
}

}  // namespace anyshape::check
