// meshgrid: vectors -> the coordinates of the grid they span, each vector repeated along the axes of the others.

#include "graph/named_call.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <utility>

namespace anyshape {

std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, MeshgridOptions options) {
  const NamedCall call("meshgrid", vectors);
  const int rank = static_cast<int>(vectors.size());
  if (rank > max_rank) call.fail(fmt::format("{} vectors span {} axes", rank, rank), fmt::format("at most {}", max_rank));
  std::vector<int> axis_of(vectors.size());
  for (int k = 0; k < rank; ++k) axis_of[k] = k;
  if (options.indexing == Indexing::XY && rank >= 2) std::swap(axis_of[0], axis_of[1]);
  std::vector<Dim> sizes(vectors.size(), 1);
  for (int k = 0; k < rank; ++k) {
    if (vectors[k].rank() > 1) call.fail(fmt::format("argument {} is no vector", k), "vectors or numbers");
    sizes[axis_of[k]] = vectors[k].shape().count();
  }
  const Shape grid{std::span<const Dim>(sizes)};
  std::vector<Tensor> result;
  for (int k = 0; k < rank; ++k) {
    std::vector<Dim> own(vectors.size(), 1);
    own[axis_of[k]] = sizes[axis_of[k]];
    result.push_back(broadcast_to(reshape(vectors[k], Shape(std::span<const Dim>(own))), grid));
  }
  return result;
}

}  // namespace anyshape
