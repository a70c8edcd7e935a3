// What is told of a library's work.
#include "loop/library_work.h"

#include <fmt/format.h>

namespace anyshape {
namespace {

Dim flops(const ProductWork& work) {
  const ProductSizes<Dim>& sizes = work.sizes;
  Dim count = sizes.m * sizes.n * sizes.k * 2;
  for (size_t axis = 0; axis < static_cast<size_t>(sizes.axes); ++axis) count = count * sizes.batch[axis].size;
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

}  // namespace

Dim flops_of(const LibraryWork& work) {
  return std::visit([](const auto& each) { return flops(each); }, work);
}

std::string to_string(const LibraryWork& work) {
  return std::visit([](const auto& each) { return text(each); }, work);
}

}  // namespace anyshape
