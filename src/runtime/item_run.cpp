// Items in order: kernel launches, calls of the library (run_library.cpp), and control items (run_control.cpp, run_scan.cpp).
#include "runtime/item_run.h"

namespace anyshape::runtime {

void ItemRun::run_block(int block) { run_items(block, {0, block_of(block).items.size()}, false); }

void ItemRun::run_items(int block, Segment segment, bool finds_sizes) {
  size_t late = finds_sizes ? 0 : program_.data_sizes.size();  // the next to be read
  const std::vector<lower::Item>& items = block_of(block).items;
  for (size_t i = segment.first; i < segment.last; ++i) {
    if (const int* launch = std::get_if<int>(&items[i])) {
      run_launch(block, *launch);
    } else if (const auto* library = std::get_if<lower::LibraryItem>(&items[i])) {
      run_library(block, library->call);
    } else if (const auto* branch = std::get_if<lower::BranchItem>(&items[i])) {
      run_branch(*branch, block);
    } else if (const auto* scan = std::get_if<lower::ScanItem>(&items[i])) {
      run_scan(*scan, sizes_.block(block).items[i], block);
    } else if (const auto* loop = std::get_if<lower::WhileItem>(&items[i])) {
      run_while(*loop, block);
    }
    if (late < program_.data_sizes.size() && program_.data_sizes[late].item == static_cast<int>(i)) read_size(late++);
  }
}

// The sizes and pointers of a launch, in the record.
FilledLaunch ItemRun::filled_launch(int block, int launch) {
  const auto number = static_cast<size_t>(launch);
  const std::vector<int>&slots = sizes_.launches[number], &buffers = program_.launches[number].buffers;
  const int64_t* const table = record_.table(block).data();
  if (record_.dims.size() < slots.size()) record_.dims.resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) record_.dims[i] = table[slots[i]];
  if (record_.buffers.size() < buffers.size()) record_.buffers.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) record_.buffers[i] = record_.pointers[static_cast<size_t>(buffers[i])];
  return {.launch = number, .buffers = {record_.buffers.data(), buffers.size()}, .dims = {record_.dims.data(), slots.size()}};
}

void ItemRun::run_launch(int block, int launch) {
  const FilledLaunch whole = filled_launch(block, launch);
  const LaunchTimes& times = executable_.times();
  const int64_t start = times.is_on() ? times.now() : 0;
  const bool is_done = queue_.launch(whole.launch, whole.buffers, whole.dims);
  if (times.is_on()) times.add(whole.launch, start);
  if (!is_done) fail(block);
}

void ItemRun::read_size(size_t number) {
  learn_size(executable_, number, *read<int64_t>(0, pointer(program_.data_sizes[number].buffer)), record_);
}

void ItemRun::fail(int block) const {
  throw_failure(queue_.failure(), block_of(block).indexed_ops, sizes_.block(block).limits, record_.table(block));
}

}  // namespace anyshape::runtime
