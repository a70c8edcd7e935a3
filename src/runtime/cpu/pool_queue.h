// Kernels one after the other on this thread, which the pool helps within each of them: the queue of what runs on this machine's processor.
#pragma once
#include "base/inline_vector.h"
#include "runtime/cpu/cpu_library.h"
#include "runtime/cpu/externs.h"
#include "runtime/cpu/pool.h"
#include "runtime/queue.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace anyshape::runtime {

// `launch(context, number, buffers, dims)` runs a kernel and gives its status: a copyable callable.
template <class Launch>
class PoolQueue final : public Queue {
 public:
  explicit PoolQueue(const Launch& launch) : launch_(launch), context_(make_context(Pool::shared())) {}

  bool launch(size_t number, std::span<void* const> buffers, std::span<const int64_t> dims) override {
    return launch_(&context_, number, buffers, dims) == 0;
  }
  bool multiply(const ProductCall& call) override {
    if (!call.epilogue) return runtime::multiply(&context_, call, nullptr) == 0;
    const OnBlocks after(launch_, *call.epilogue);
    return runtime::multiply(&context_, call, &after) == 0;
  }
  bool convolve(const ConvolutionCall& call) override {
    if (!call.epilogue) return runtime::convolve(&context_, call, nullptr) == 0;
    const OnBlocks after(launch_, *call.epilogue);
    return runtime::convolve(&context_, call, &after) == 0;
  }
  bool sort(const SortCall& call) override {
    runtime::sort(*static_cast<Pool*>(context_.pool), call);
    return true;
  }
  void copy(void* to, const void* from, int64_t bytes) override { std::memcpy(to, from, static_cast<size_t>(bytes)); }
  const void* read(const void* from, int64_t) override { return from; }
  Failure failure() const override {
    const AsFailure& failure = context_.failure;
    return {.code = failure.code, .op = failure.op, .index = failure.index, .value = failure.value};
  }

 private:
  class OnBlocks final : public BlockRun {
   public:
    OnBlocks(const Launch& launch, const FilledLaunch& epilogue) : launch_(launch), epilogue_(epilogue) {}
    int32_t run(AsContext* context, const ResultBlock& block) const override {
      InlineVector<int64_t, 24> dims(epilogue_.dims);
      std::ranges::copy(std::array{block.first_row, block.end_row, block.first_column, block.end_column}, dims.begin());
      return launch_(context, epilogue_.launch, epilogue_.buffers, {dims.data(), dims.size()});
    }

   private:
    const Launch& launch_;
    const FilledLaunch& epilogue_;
  };

  void call_beside(int64_t count, Body body, const void* state) override {
    static_cast<Pool*>(context_.pool)->run(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        PoolQueue own(*this);
        body(state, i, own);
      }
    });
  }

  Launch launch_;
  AsContext context_;
};

}  // namespace anyshape::runtime
