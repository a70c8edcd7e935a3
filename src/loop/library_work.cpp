// What is told of a library's work.
#include "loop/library_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace anyshape {
namespace {

Dim flops(const ProductWork& work) {
  const ProductSizes<Dim>& sizes = work.sizes;
  Dim count = sizes.m * sizes.n * sizes.k * 2;
  for (size_t axis = 0; axis < static_cast<size_t>(sizes.axes); ++axis) count = count * sizes.batch[axis].size;
  return count;
}

Dim flops(const SortWork&) { return 0; }

// Whichever tensor is wanted, each output meets each tap and each channel of its group. (Taps beside the image count.)
Dim flops(const ConvolutionWork& work) {
  const ConvolutionSizes<Dim>& sizes = work.sizes;
  Dim count = sizes.images * sizes.filters * (sizes.channels / sizes.groups) * 2;
  for (const auto& axis : sizes.axes) count = count * axis.output * axis.taps;
  return count;
}

std::string text(const ProductWork& work) {
  const ProductSizes<Dim>& sizes = work.sizes;
  const auto matrix = [](const Dim& rows, const Dim& columns, bool transpose) {
    return transpose ? fmt::format("transposed [{}, {}]", to_string(columns), to_string(rows))
                     : fmt::format("[{}, {}]", to_string(rows), to_string(columns));
  };
  std::string result =
      fmt::format("product of {} and {}", matrix(sizes.m, sizes.k, work.transpose_a), matrix(sizes.k, sizes.n, work.transpose_b));
  for (size_t axis = 0; axis < static_cast<size_t>(sizes.axes); ++axis)
    result += fmt::format("{}{}", axis == 0 ? ", for each of " : " * ", to_string(sizes.batch[axis].size));
  if (!sizes.packs.same_as(0))
    result += sizes.packs.same_as(1) ? ", of a copy of the second" : ", of a copy of the second where " + to_string(sizes.packs) + " is 1";
  return result;
}

std::string text(const SortWork& work) {
  const SortSizes<Dim>& sizes = work.sizes;
  const std::string order = fmt::format("{}{}", to_string(work.dtype), work.descending ? ", from the greatest" : "");
  if (work.by_splits)
    return fmt::format("sort of {} rows by splits, {} elements, {} columns, {}", to_string(sizes.outer), to_string(sizes.size),
                       to_string(sizes.inner), order);
  const Dim rows = sizes.outer * sizes.inner;
  const std::string first = sizes.count.same_as(sizes.size) ? "" : fmt::format("the first {} of ", to_string(sizes.count));
  return fmt::format("sort of {} rows, {}{} elements, {}", to_string(rows), first, to_string(sizes.size), order);
}

std::string text(const ConvolutionWork& work) {
  const ConvolutionSizes<Dim>& sizes = work.sizes;
  std::vector<std::string> image = {to_string(sizes.images)}, taps, result = image, strides, dilation;
  for (const auto& axis : sizes.axes) {
    if (image.size() == 1 && axis.input.same_as(1) && axis.taps.same_as(1) && &axis != &sizes.axes.back()) continue;  // it is not there
    image.push_back(to_string(axis.input));
    taps.push_back(to_string(axis.taps));
    result.push_back(to_string(axis.output));
    strides.push_back(to_string(axis.stride));
    dilation.push_back(to_string(axis.dilation));
  }
  image.push_back(to_string(sizes.channels));
  result.push_back(to_string(sizes.filters));
  using Wanted = ConvolutionWork::Wanted;
  std::string text = work.wanted == Wanted::Result          ? ""
                     : work.wanted == Wanted::InputGradient ? "input gradient of a "
                                                            : "kernel gradient of a ";
  text += fmt::format("convolution of [{}] to [{}], {} taps", fmt::join(image, ", "), fmt::join(result, ", "), fmt::join(taps, " x "));
  const auto add = [&](const char* what, const std::vector<std::string>& numbers) {
    if (std::ranges::any_of(numbers, [](const std::string& number) { return number != "1"; }))
      text += fmt::format(", {} {}", what, fmt::join(numbers, " x "));
  };
  add("strides", strides);
  add("dilation", dilation);
  if (!sizes.groups.same_as(1)) text += fmt::format(", {} groups", to_string(sizes.groups));
  return text;
}

}  // namespace

Dim flops_of(const LibraryWork& work) {
  return std::visit([](const auto& each) { return flops(each); }, work);
}

std::string to_string(const LibraryWork& work) {
  return std::visit([](const auto& each) { return text(each); }, work);
}

}  // namespace anyshape
