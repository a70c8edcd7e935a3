// Calls of the target's library: the formulas of a program as numbers, its buffers as addresses.
#include "runtime/item_run.h"

namespace anyshape::runtime {

void ItemRun::run_library(int block, int number) {
  const lower::LibraryCall& call = program_.library_calls[static_cast<size_t>(number)];
  const std::vector<int64_t>& table = record_.table(block);
  const auto address = [&](const std::vector<int>& buffers, size_t k) {
    return k < buffers.size() ? static_cast<float*>(pointer(buffers[k])) : nullptr;
  };
  const auto& work = std::get<ProductWork>(call.work);
  const auto& slots = std::get<ProductSizes<int>>(sizes_.library_calls[static_cast<size_t>(number)]);
  ProductCall product{.transpose_a = work.transpose_a,
                      .transpose_b = work.transpose_b,
                      .sizes = mapped<int64_t>(slots, [&](int slot) { return table[static_cast<size_t>(slot)]; }),
                      .a = address(call.inputs, 0),
                      .b = address(call.inputs, 1),
                      .c = address(call.outputs, 0),
                      .packed = address(call.scratch, 0)};
  if (call.epilogue >= 0) product.epilogue = filled_launch(block, call.epilogue);
  const LaunchTimes& times = executable_.times();
  const int64_t start = times.is_on() ? times.now() : 0;
  const bool is_done = queue_.multiply(product);
  if (times.is_on()) times.add(program_.launches.size() + static_cast<size_t>(number), start);
  if (!is_done) fail(block);
}

}  // namespace anyshape::runtime
