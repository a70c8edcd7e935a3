// Calls of the target's library: the formulas of a program as numbers, its buffers as pointers.
#include "runtime/frame.h"
#include "runtime/library.h"

#include <optional>

namespace anyshape::runtime {

void Executable::plan_library(int number, BlockSizes& plan) {
  const lower::LibraryCall& call = program_.library_calls[static_cast<size_t>(number)];
  const auto slot = [&](const Dim& size) { return plan.sizes.add(size); };
  library_slots_[static_cast<size_t>(number)] =
      std::visit([&](const auto& work) -> LibrarySizes<int> { return mapped<int>(work.sizes, slot); }, call.work);
  if (call.epilogue < 0) return;
  for (const Dim& dim : program_.launches[static_cast<size_t>(call.epilogue)].dims)
    launch_slots_[static_cast<size_t>(call.epilogue)].push_back(plan.sizes.add(dim));
}

void Executable::run_library(int block, int number, Frame& frame, AsContext& context) const {
  const lower::LibraryCall& call = program_.library_calls[static_cast<size_t>(number)];
  const std::vector<int64_t>& table = frame.table(block);
  const auto pointer = [&](const std::vector<int>& buffers, size_t k) {
    return k < buffers.size() ? static_cast<float*>(frame.pointers[static_cast<size_t>(buffers[k])]) : nullptr;
  };
  std::optional<BlockKernel> epilogue;
  if (call.epilogue >= 0) {
    const auto launch = static_cast<size_t>(call.epilogue);
    fill_launch(block, call.epilogue, frame);
    epilogue.emplace(*program_.launches[launch].kernel, entries_.empty() ? nullptr : entries_[launch], frame.buffers, frame.dims);
  }
  const auto& work = std::get<ProductWork>(call.work);
  const auto& slots = std::get<ProductSizes<int>>(library_slots_[static_cast<size_t>(number)]);
  const ProductCall product{.transpose_a = work.transpose_a,
                            .transpose_b = work.transpose_b,
                            .sizes = mapped<int64_t>(slots, [&](int slot) { return table[static_cast<size_t>(slot)]; }),
                            .a = pointer(call.inputs, 0),
                            .b = pointer(call.inputs, 1),
                            .c = pointer(call.outputs, 0),
                            .packed = pointer(call.scratch, 0),
                            .epilogue = epilogue ? &*epilogue : nullptr};
  const int64_t start = times_.is_on() ? times_.now() : 0;
  const int32_t status = processor_library().multiply(&context, product);
  if (times_.is_on()) times_.add(program_.launches.size() + static_cast<size_t>(number), start);
  if (status != 0) fail(block, context.failure, frame);
}

}  // namespace anyshape::runtime
