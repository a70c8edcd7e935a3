// Choosing sizes.
#include "function/sample_sizes.h"

#include "base/near_names.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::function_detail {

SizeSampler::SizeSampler(const Signature& signature, std::vector<size_t> together, const std::vector<SizeRange>& ranges, uint64_t seed)
    : together_(std::move(together)), random_(seed) {
  std::vector<std::string> names;
  for (const Dim& symbol : signature.symbols()) names.push_back(to_string(symbol));
  std::vector<SizeRange> wanted;
  for (const Dim& symbol : signature.symbols()) {
    const DimOptions& options = as_symbol(symbol)->options;
    wanted.push_back({to_string(symbol), options.min, options.max - options.min > 16 ? options.min + 16 : options.max});
  }
  for (const SizeRange& range : ranges) {
    const auto found = std::ranges::find(names, range.name);
    if (found == names.end()) {
      throw ArgumentError("verify: " + unknown_name("size", range.name, names));
    }
    const auto index = static_cast<size_t>(found - names.begin());
    const DimOptions& options = as_symbol(signature.symbols()[index])->options;
    if (range.min < options.min || range.max > options.max || range.min > range.max) {
      throw ArgumentError(fmt::format("verify: the range {}..{} of \"{}\" is empty or wider than its signature; expected a part of {}..{}.",
                                      range.min, range.max, range.name, options.min,
                                      options.max == Range::infinity ? std::string("any") : fmt::to_string(options.max)));
    }
    wanted[together_[index]] = range;
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t stride = as_symbol(signature.symbols()[i])->options.multiple_of;
    const int64_t up = (stride - wanted[i].min % stride) % stride;  // to the first multiple
    if (up > wanted[i].max - wanted[i].min) {
      throw ArgumentError(fmt::format("verify: the range {}..{} of \"{}\" holds no multiple of {}; expected a wider one.", wanted[i].min,
                                      wanted[i].max, names[i], stride));
    }
    const int64_t least = wanted[i].min + up;
    choices_.push_back({least, (wanted[i].max - least) / stride, stride});
  }
}

int64_t SizeSampler::Choice::nearest(int64_t size) const {
  if (size <= least) return least;
  return at(std::min((size - least - 1) / stride + 1, last));
}

void SizeSampler::spread(std::vector<int64_t>& sizes) const {
  for (size_t i = 0; i < sizes.size(); ++i) sizes[i] = sizes[together_[i]];
}

std::vector<int64_t> SizeSampler::sizes(int64_t number) {
  std::vector<int64_t> sizes;
  for (const Choice& choice : choices_) {
    // Corners on their own first, then mixed with sizes from the middle.
    const auto draw = static_cast<int64_t>(random_() % 10);
    const int64_t kind = number < 3 ? number : draw;
    sizes.push_back(kind == 0   ? choice.at(0)
                    : kind == 1 ? choice.nearest(1)
                    : kind == 2 ? choice.at(choice.last)
                                : choice.at(static_cast<int64_t>(random_() % (static_cast<uint64_t>(choice.last) + 1))));
  }
  spread(sizes);
  return sizes;
}

std::vector<std::vector<int64_t>> SizeSampler::smaller(const std::vector<int64_t>& sizes) const {
  std::vector<std::vector<int64_t>> found;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (together_[i] != i) continue;
    const Choice& choice = choices_[i];
    for (const int64_t size : {choice.at(0), choice.nearest(1), choice.nearest(sizes[i] / 2), sizes[i] - choice.stride}) {
      if (size >= sizes[i] || size < choice.least) continue;
      std::vector<int64_t> changed = sizes;
      changed[i] = size;
      spread(changed);
      found.push_back(std::move(changed));
    }
  }
  return found;
}

}  // namespace anyshape::function_detail
