// Kernel parameters: sizes and buffers, each declared where first used.
#include "lower/kernel_writer.h"

#include <anyshape/error.h>

#include <fmt/format.h>

namespace anyshape::lower {

loop::Value KernelWriter::size(const Dim& dim) { return dim.is_constant() ? b.integer(dim.value()) : parameter(dim); }

loop::Value KernelWriter::parameter(const Dim& dim) {
  if (auto found = sizes_.find(dim); found != sizes_.end()) return found->second;
  dims_.push_back(dim);
  return sizes_[dim] = b.size(fmt::format("d{}", dims_.size() - 1));
}

loop::Value KernelWriter::bound(std::string name, const Dim& whole) {
  dims_.push_back(whole);
  return b.size(std::move(name));
}

int32_t KernelWriter::buffer(int program_buffer, Dtype dtype, loop::Access access) {
  auto [entry, is_new] = parameters_.try_emplace(program_buffer);
  if (is_new) {
    entry->second = {b.buffer(fmt::format("b{}", buffers_.size()), dtype, access), access};
    buffers_.push_back(program_buffer);
  } else if (entry->second.access != access && entry->second.access != loop::Access::InOut) {
    throw InternalError(fmt::format("lower: buffer {} is both read and written in one kernel", program_buffer));
  }
  return entry->second.number;
}

Launch KernelWriter::finish() { return {std::make_shared<const loop::Kernel>(b.finish()), std::move(buffers_), std::move(dims_)}; }

}  // namespace anyshape::lower
