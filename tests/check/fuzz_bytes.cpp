// Decoding bytes.
#include "check/fuzz_bytes.h"

#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace anyshape::check {
namespace {

constexpr int64_t smallest = std::numeric_limits<int64_t>::min(), largest = std::numeric_limits<int64_t>::max();

int rank_of(const Tensor& x) { return x.defined() ? x.rank() : 0; }

Sizes sizes_of(const Tensor& x) {
  Sizes sizes;
  if (!x.defined()) return sizes;
  for (const Dim& size : x.shape()) sizes.push_back(size.value());
  return sizes;
}

}  // namespace

int64_t FuzzBytes::take(std::span<const uint8_t>& from, int64_t limit) {
  if (from.empty()) return 0;
  const int64_t result = from.front() % limit;
  from = from.subspan(1);
  return result;
}

Dtype FuzzBytes::dtype() { return pick(std::vector<Dtype>{f32, f32, f32, f64, f64, i32, i64, b8, u8, f16, bf16}); }

Tensor FuzzBytes::tensor(int64_t elements) {
  const int64_t kind = below(100);
  if (kind == 99) return say("nothing"), Tensor();
  if (kind == 98) return say("number"), Tensor(below(2) == 0 ? 2.5 : -1.0);
  Random random(value_seed());
  random.elements = value_below(8) == 0 ? elements : 16;  // mostly few: interpreting them takes the time
  const int64_t rank = below(12);
  const Dtype type = dtype();
  const Sizes sizes = random.sizes(static_cast<int>(rank < 11 ? rank / 2 : 5 + below(4)));
  const View memory = view();
  say(fmt::format("{}{} {}", to_string(type), to_string(sizes), to_string(memory)));
  return draw_tensor(random, type, sizes, {.low = type == u8 ? 0.0 : -4.0}, memory);
}

Tensor FuzzBytes::like(const Tensor& x) {
  Sizes sizes = sizes_of(x);
  for (int64_t& size : sizes) {
    if (value_chance(20)) size = 1;
    if (value_chance(5)) size = value_below(4);
  }
  if (!sizes.empty() && chance(15)) sizes.erase(sizes.begin());
  if (!sizes.empty() && chance(5)) sizes.pop_back();
  const Dtype type = x.defined() && chance(80) ? x.dtype() : dtype();
  Random random(value_seed());
  say(fmt::format("{}{}", to_string(type), to_string(sizes)));
  return draw_tensor(random, type, sizes, {.low = type == u8 ? 0.0 : -4.0});
}

Tensor FuzzBytes::indices(const Tensor& x, int64_t axis) {
  const Sizes sizes = sizes_of(x);
  const int64_t rank = rank_of(x), index = axis < 0 ? axis + rank : axis;
  const int64_t size = index >= 0 && index < rank ? sizes[static_cast<size_t>(index)] : 3;
  Sizes index_sizes;
  for (int64_t count = below(3); count > 0; --count) index_sizes.push_back(value_below(5));
  return indices_below(size, index_sizes);
}

Tensor FuzzBytes::indices_below(int64_t size, const Sizes& sizes) {
  constexpr int64_t int_min = std::numeric_limits<int32_t>::min(), int_max = std::numeric_limits<int32_t>::max();
  const bool wide = chance(40);
  std::vector<int64_t> values;
  const bool is_wild = value_chance(30);
  for (int64_t count = count_of(sizes); count > 0; --count) {
    const int64_t inside = size > 0 ? value_below(std::min<int64_t>(size, 256)) : 0;
    const int64_t wild[] = {-1, 0, size - 1, size, -size, -size - 1, int_min, int_max};
    values.push_back(is_wild && value_chance(30) ? wild[value_below(std::size(wild))] : inside);
  }
  say(fmt::format("indices {}{}", values, to_string(sizes)));
  const Shape shape{std::span<const int64_t>(sizes)};
  if (wide) {
    for (int64_t& value : values) value = value == int_min && value_chance(50) ? smallest : value;
    return anyshape::tensor(values, shape);
  }
  return anyshape::tensor(std::vector<int32_t>(values.begin(), values.end()), shape);
}

int64_t FuzzBytes::axis(const Tensor& x) {
  const int64_t rank = rank_of(x);
  const int64_t value = chance(3) ? number() : below(2 * rank + 2) - rank - 1;
  say(fmt::format("axis {}", value));
  return value;
}

std::vector<int64_t> FuzzBytes::axes(const Tensor& x) {
  std::vector<int64_t> result;
  for (int64_t count = below(rank_of(x) + 2); count > 0; --count) result.push_back(axis(x));
  return result;
}

int64_t FuzzBytes::number() {
  const int64_t value =
      chance(60) ? below(9) - 2 : pick(std::vector<int64_t>{-1, 0, 1, 2, int64_t{1} << 31, -(int64_t{1} << 31), smallest, largest});
  say(fmt::format("number {}", value));
  return value;
}

Shape FuzzBytes::shape(const Tensor& x) {
  Sizes sizes = sizes_of(x);
  if (chance(30)) {
    sizes.clear();
    for (int64_t rank = below(5); rank > 0; --rank) sizes.push_back(value_below(6));
  }
  if (!sizes.empty() && chance(40)) sizes[index(sizes.size())] = value_below(6) - 2;
  if (chance(20)) sizes.insert(sizes.begin(), value_below(4));
  // Too many to count, in elements or in bytes; never a number that a machine might have.
  if (chance(3)) sizes = {int64_t{1} << 40, int64_t{1} << 40};
  if (chance(2)) sizes = {largest / 2};
  if (chance(2)) sizes = {smallest, 2};
  if (sizes.size() > static_cast<size_t>(max_rank)) sizes.resize(max_rank);
  say(fmt::format("shape {}", to_string(sizes)));
  return Shape(std::span<const int64_t>(sizes));
}

}  // namespace anyshape::check
