// Drawing sizes, values and views.
#include "check/corner_box.h"

#include "tensor/view.h"

#include <algorithm>
#include <array>

namespace anyshape::check {
namespace {

std::vector<double> special_values(Dtype dtype, const Domain& domain) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool narrow = dtype != Dtype::f64;
  const double largest = narrow ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  const double smallest = narrow ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  const double denormal = narrow ? std::numeric_limits<float>::denorm_min() : std::numeric_limits<double>::denorm_min();
  std::vector<double> values = domain.exact;
  const auto offer = [&](bool wanted, double value) {
    if (wanted && value >= domain.least && value <= domain.most) values.push_back(value);
  };
  for (const double sign : {1.0, -1.0}) {
    offer(domain.zeros, sign * 0.0);
    offer(domain.zeros, sign * denormal);
    offer(domain.extremes, sign * largest);
    offer(domain.extremes, sign * smallest);
  }
  if (domain.infinities && domain.most >= 1e300) values.push_back(infinity);
  if (domain.infinities && domain.least <= -1e300) values.push_back(-infinity);
  if (domain.nan) values.push_back(std::numeric_limits<double>::quiet_NaN());
  return values;
}

double draw_from(Random& random, Dtype dtype, const Domain& domain, const std::vector<double>& specials) {
  if (dtype == Dtype::b8) return static_cast<double>(random.below(2));
  if (!is_floating(dtype)) {
    const bool is_byte = dtype == Dtype::u8;
    const double low = is_byte ? std::max(domain.low, 0.0) : domain.low, high = is_byte ? std::min(domain.high, 255.0) : domain.high;
    return static_cast<double>(random.between(static_cast<int64_t>(std::ceil(low)), static_cast<int64_t>(std::floor(std::max(high, low)))));
  }
  if (random.chance(15) && !specials.empty()) return random.pick(specials);
  return random.real(domain.low, domain.high);
}

Tensor whole(Random& random, Dtype dtype, const Sizes& sizes, const Domain& domain) {
  const std::vector<double> specials = special_values(dtype, domain);
  Flat flat{dtype, sizes, {}};
  flat.values.reserve(static_cast<size_t>(count_of(sizes)));
  // One in ten is a number that stands elsewhere in the tensor already: ties have rules of their own.
  for (int64_t i = count_of(sizes); i > 0; --i) {
    const bool is_tie = !flat.values.empty() && random.chance(10);
    flat.values.push_back(is_tie ? random.pick(flat.values) : draw_from(random, dtype, domain, specials));
  }
  return to_tensor(flat);
}

// Along every axis by `step`, out of a tensor just large enough.
Tensor stepped(Random& random, Dtype dtype, const Sizes& sizes, const Domain& domain, int64_t step, int64_t begin) {
  Sizes larger = sizes, begins(sizes.size(), begin), steps(sizes.size(), step);
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    if (axis >= 2 && step > 1) steps[axis] = 1;  // or much would stand between the elements
    larger[axis] = sizes[axis] * std::abs(steps[axis]) + begin;
    if (step < 0) begins[axis] = std::max<int64_t>(larger[axis] - 1, 0);
    if (sizes[axis] == 0) begins[axis] = 0;
  }
  return slice_view(whole(random, dtype, larger, domain), begins, sizes, steps);
}

}  // namespace

uint64_t Random::next() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

double Random::real(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11) * 0x1p-53; }

int64_t Random::size() {
  constexpr std::array<int64_t, 10> others = {2, 3, 7, 8, 16, 17, 31, 33, 64, 65};
  if (every >= 0) return every;
  const int64_t choice = below(100);
  if (choice < 8) return 0;
  if (choice < 23) return 1;
  int64_t size = largest + 1;
  while (size > largest) size = others[static_cast<size_t>(below(others.size()))];
  return size;
}

Sizes Random::sizes(int rank) {
  Sizes result;
  int64_t left = elements;
  for (int axis = 0; axis < rank; ++axis) {
    int64_t one = size();
    if (one > left) one = between(1, std::max<int64_t>(1, std::min<int64_t>(left, 3)));
    result.push_back(one);
    left /= std::max<int64_t>(one, 1);
  }
  // The large sizes come first that way; any axis shall have them.
  for (size_t axis = result.size(); axis > 1; --axis)
    std::swap(result[axis - 1], result[static_cast<size_t>(below(static_cast<int64_t>(axis)))]);
  return result;
}

double draw(Random& random, Dtype dtype, const Domain& domain) { return draw_from(random, dtype, domain, special_values(dtype, domain)); }

double draw_smooth(Random& random, const Domain& domain) {
  while (true) {
    const double value = random.real(domain.low, domain.high);
    if (std::ranges::none_of(domain.kinks, [&](double kink) { return std::abs(value - kink) < 1e-2; })) return value;
  }
}

std::string to_string(View view) {
  constexpr const char* names[] = {"whole", "transposed", "stepped", "reversed", "repeated", "misaligned"};
  return names[static_cast<int>(view)];
}

Tensor draw_tensor(Random& random, Dtype dtype, const Sizes& sizes, const Domain& domain, View view) {
  if (sizes.empty()) return whole(random, dtype, sizes, domain);
  switch (view) {
    case View::Whole: break;
    case View::Transposed: {
      const Sizes reversed(sizes.rbegin(), sizes.rend());
      std::vector<int> permutation;
      for (int axis = static_cast<int>(sizes.size()) - 1; axis >= 0; --axis) permutation.push_back(axis);
      return transpose_view(whole(random, dtype, reversed, domain), permutation);
    }
    case View::Stepped: return stepped(random, dtype, sizes, domain, 2, 1);
    case View::Reversed: return stepped(random, dtype, sizes, domain, -1, 0);
    case View::Repeated: {
      Sizes one = sizes;
      one[static_cast<size_t>(random.below(static_cast<int64_t>(sizes.size())))] = 1;
      return broadcast_view(whole(random, dtype, one, domain), sizes);
    }
    case View::Misaligned: return stepped(random, dtype, sizes, domain, 1, 1);
  }
  return whole(random, dtype, sizes, domain);
}

}  // namespace anyshape::check
