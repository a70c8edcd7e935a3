// Branches and loops: a block is entered, told where its lent buffers are, and its items run. Carried values change buffers with every iteration.
#include "base/spread_bits.h"
#include "runtime/item_run.h"

namespace anyshape::runtime {

void ItemRun::enter_inner(int inner, int block) { enter_block(executable_, inner, record_, record_.table(block).data()); }

// Every iteration draws its own random numbers, the same ones when it is computed again.
void ItemRun::set_iteration(int inner, int block, int64_t iteration) {
  if (sizes_.random_slot < 0) return;
  const auto slot = static_cast<size_t>(sizes_.random_slot);
  const auto key = static_cast<uint64_t>(record_.table(block)[slot]);
  record_.table(inner)[slot] = static_cast<int64_t>(spread_bits(key, static_cast<uint64_t>(iteration)));
}

void ItemRun::lend_output(int inner, size_t output, void* target) {
  const lower::BlockOutput& which = block_of(inner).outputs[output];
  if (which.is_lent) pointer(which.buffer) = target;
}

int64_t ItemRun::output_bytes(int inner, size_t output) const {
  const lower::BlockOutput& which = block_of(inner).outputs[output];
  const int slot = sizes_.block(inner).outputs[output];
  return record_.table(inner)[static_cast<size_t>(slot)] * size_of(program_.buffers[static_cast<size_t>(which.buffer)].dtype);
}

void ItemRun::copy_output(int inner, size_t output, void* target) {
  const lower::BlockOutput& which = block_of(inner).outputs[output];
  if (!which.is_lent) copy(target, pointer(which.buffer), output_bytes(inner, output));
}

void ItemRun::run_branch(const lower::BranchItem& item, int block) {
  const int inner = *read<bool>(block, pointer(item.condition)) ? item.then : item.otherwise;
  enter_inner(inner, block);
  for (size_t i = 0; i < item.outputs.size(); ++i) lend_output(inner, i, pointer(item.outputs[i]));
  run_block(inner);
  for (size_t i = 0; i < item.outputs.size(); ++i) copy_output(inner, i, pointer(item.outputs[i]));
}

bool ItemRun::ask(const lower::WhileItem& item, int block, void* answer) {
  lend_output(item.condition, 0, answer);
  run_block(item.condition);
  return *read<bool>(block, pointer(block_of(item.condition).outputs[0].buffer));
}

void ItemRun::run_while(const lower::WhileItem& item, int block) {
  // Where a carried value stands after this many iterations.
  auto memory_of = [&](const lower::CarriedBuffer& each, int64_t done) {
    return pointer(done == 0 ? each.initial : done % 2 == 0 ? each.final : each.spare);
  };
  const std::shared_ptr<Buffer> answer = allocate(1, executable_.memory());
  enter_inner(item.condition, block);
  int64_t done = 0;
  for (; item.most < 0 || done < item.most; ++done) {
    set_iteration(item.condition, block, done);
    for (size_t i = 0; i < item.carried.size(); ++i) pointer(item.asked[i]) = memory_of(item.carried[i], done);
    if (!ask(item, block, answer->pointer)) break;
    if (done == 0) enter_inner(item.body, block);
    set_iteration(item.body, block, done);
    for (size_t i = 0; i < item.carried.size(); ++i) {
      pointer(item.carried[i].inside) = memory_of(item.carried[i], done);
      lend_output(item.body, i, memory_of(item.carried[i], done + 1));
    }
    run_block(item.body);
    for (size_t i = 0; i < item.carried.size(); ++i) copy_output(item.body, i, memory_of(item.carried[i], done + 1));
  }
  for (const lower::CarriedBuffer& each : item.carried) copy(pointer(each.final), memory_of(each, done), bytes_of(each.final));
}

}  // namespace anyshape::runtime
