// The device "grid": neutral programs on a grid of blocks, later and on another thread. A kernel launch reads a record of addresses and sizes.
#pragma once
#include "grid/grid.h"
#include "runtime/device_backend.h"

#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace anyshape::test {

struct GridCode final : runtime::Code {
  std::deque<GridKernel> kernels;
  std::vector<const GridKernel*> of_launch;
};

class GridQueue final : public WorkerQueue<GridQueue> {
 public:
  using WorkerQueue::WorkerQueue;
  bool launch(size_t number, std::span<void* const> buffers, std::span<const int64_t> dims) override {
    const GridKernel& kernel = *static_cast<const GridCode&>(executable.code()).of_launch[number];
    std::vector<int64_t> record(kernel.neutral->buffers.size() + kernel.neutral->dims.size());
    for (size_t i = 0; i < kernel.neutral->buffers.size(); ++i) std::memcpy(&record[i], &buffers[i], sizeof(buffers[i]));
    std::copy_n(dims.begin(), kernel.neutral->dims.size(), record.begin() + static_cast<std::ptrdiff_t>(kernel.neutral->buffers.size()));
    return Grid::run(kernel, record, context) == 0;
  }
};

class GridBackend final : public WorkerBackend<GridQueue> {
 public:
  static constexpr int32_t number = 4;
  GridBackend() : WorkerBackend("grid", "device \"grid\"", number) {}
  // The program keeps its neutral kernels, which say what is right.
  void map(lower::Program& /*program*/) const override {}
  std::shared_ptr<const runtime::Code> compile(const lower::Program& program) override {
    auto code = std::make_shared<GridCode>();
    std::unordered_map<const loop::Kernel*, const GridKernel*> known;
    for (const lower::Launch& launch : program.launches) {
      const GridKernel*& kernel = known[launch.kernel.get()];
      if (kernel == nullptr) kernel = &code->kernels.emplace_back(launch.kernel, mistake);
      code->of_launch.push_back(kernel);
    }
    return code;
  }

  GridMistake mistake = GridMistake::None;  // of what is compiled from now on
};

// Lasts as long as the process.
inline GridBackend& grid() {
  static GridBackend& backend = *new GridBackend;
  return backend;
}

}  // namespace anyshape::test
