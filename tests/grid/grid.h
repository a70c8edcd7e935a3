// Runs a kernel on a fixed grid of blocks, each interpreted on a thread of its own, and finds what a processor of many threads would do wrong in
// silence: two blocks that write one place between two barriers, a block that reads what another one writes there, blocks that do not meet at
// the same barriers, and results that are not those of the neutral kernel, bit by bit.
#pragma once
#include "base/thread_context.h"
#include "grid/grid_mapping.h"
#include "loop/interpret.h"
#include "runtime/cpu/externs.h"

#include <fmt/format.h>

#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace anyshape::test {

struct GridFault : std::logic_error {
  using std::logic_error::logic_error;
};

// A kernel as it was lowered, and as the grid runs it.
struct GridKernel {
  explicit GridKernel(std::shared_ptr<const loop::Kernel> kernel, GridMistake mistake = GridMistake::None)
      : neutral(std::move(kernel)), mapped(map_for_grid(*neutral, mistake)) {}
  std::shared_ptr<const loop::Kernel> neutral;
  loop::Kernel mapped;
};

class Grid {
 public:
  static constexpr int blocks = 5;

  // `record`: the buffers' addresses, then the sizes. Gives what loop::interpret() gives; throws GridFault.
  static int32_t run(const GridKernel& kernel, std::span<const int64_t> record, AsContext& context) {
    Grid grid(kernel, record);
    if (const int32_t status = grid.run_blocks(context); status != 0) return status;
    grid.compare_with_neutral(context);
    return 0;
  }

 private:
  struct Old {
    int64_t bytes;
    uint64_t bits;
  };
  using Places = std::unordered_map<void*, Old>;

  static uint64_t bits_at(const void* place, int64_t bytes) {
    uint64_t bits = 0;
    std::memcpy(&bits, place, static_cast<size_t>(bytes));
    return bits;
  }

  // What a block touches between two barriers; what was there before it wrote.
  struct Watch final : loop::MemoryWatch {
    void read(const void* place, int64_t) override { was_read.push_back(place); }
    void write(void* place, int64_t bytes) override {
      if (!was_written.contains(place)) was_written.emplace(place, Old{bytes, bits_at(place, bytes)});
    }
    std::vector<const void*> was_read;
    Places was_written;
  };

  struct OwnBlock {
    Watch watch;
    AsContext context = runtime::make_context(runtime::Pool::shared());
    int32_t status = 0;
  };

  // The one that a thread runs a block of, for the routine by which blocks meet.
  static Grid*& here() {
    static thread_local Grid* of_thread = nullptr;
    return of_thread;
  }
  static loop::ExternFunction find_routine(std::string_view name) {
    if (name != meet_routine) return runtime::find_extern(name);
    return [](AsContext*, void* const*, const int64_t*) { return here()->meet(false); };
  }

  Grid(const GridKernel& kernel, std::span<const int64_t> record) : kernel_(kernel) {
    const size_t buffers = kernel.neutral->buffers.size();
    for (size_t i = 0; i < buffers; ++i) {
      void* address = nullptr;
      std::memcpy(&address, &record[i], sizeof(address));
      buffers_.push_back(address);
    }
    dims_.assign(record.begin() + static_cast<std::ptrdiff_t>(buffers), record.end());
  }

  int32_t run_blocks(AsContext& context) {
    std::vector<std::thread> threads;
    for (int number = 0; number < blocks; ++number) threads.emplace_back([this, number] { run_block(number); });
    for (std::thread& thread : threads) thread.join();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    if (!fault_.empty()) throw GridFault(fault_);
    for (const OwnBlock& block : blocks_) {
      if (block.status == 0 || block.status == stopped) continue;
      runtime::record_failure(&context, block.context.failure);
      return block.status;
    }
    return 0;
  }

  void run_block(int number) {
    OwnBlock& block = blocks_[static_cast<size_t>(number)];
    here() = this;
    this_thread.is_inside_task = true;  // routines begin nothing on other threads
    std::vector<int64_t> dims = dims_;
    dims.insert(dims.end(), {number, blocks});
    try {
      block.status = loop::interpret(kernel_.mapped, &block.context, buffers_, dims, find_routine, &block.watch);
      if (block.status == 0) block.status = meet(true);
    } catch (...) {
      const std::lock_guard guard(mutex_);
      failure_ = std::current_exception();
      block.status = stopped;
    }
    if (block.status != 0) stop();
  }

  // A barrier, and at the end the last one. Not 0: the run is over.
  int32_t meet(bool is_end) {
    std::unique_lock lock(mutex_);
    if (has_stopped_) return stopped;
    if (is_end) ++ended_;
    if (++waiting_ < blocks) {
      changed_.wait(lock, [&, phase = phase_] { return phase != phase_ || has_stopped_; });
      return fault_.empty() && !has_stopped_ ? 0 : stopped;
    }
    if (ended_ != 0 && ended_ != blocks)
      fault_ = fmt::format("kernel {}: some blocks of the grid end where others meet.", kernel_.neutral->name);
    if (fault_.empty()) check_phase();
    waiting_ = 0;
    ++phase_;
    changed_.notify_all();
    return fault_.empty() ? 0 : stopped;
  }

  void stop() {
    const std::lock_guard guard(mutex_);
    has_stopped_ = true;
    changed_.notify_all();
  }

  void check_phase() {
    std::unordered_map<const void*, int> writers;
    for (int number = 0; number < blocks; ++number) {
      for (const auto& [place, old] : blocks_[static_cast<size_t>(number)].watch.was_written) {
        const auto [other, is_first] = writers.emplace(place, number);
        if (!is_first) return complain(place, fmt::format("blocks {} and {} of the grid both write", other->second, number));
        old_.try_emplace(place, old);
      }
    }
    for (int number = 0; number < blocks; ++number) {
      Watch& watch = blocks_[static_cast<size_t>(number)].watch;
      if (!writers.empty()) {
        for (const void* const place : watch.was_read) {
          const auto writer = writers.find(place);
          if (writer == writers.end() || writer->second == number) continue;
          return complain(place, fmt::format("block {} of the grid reads what block {} writes,", number, writer->second));
        }
      }
      watch.was_read.clear();
      watch.was_written.clear();
    }
  }

  void complain(const void* place, const std::string& what) {
    fault_ = fmt::format("kernel {}: {} {} between two barriers.", kernel_.neutral->name, what, name_of(place));
  }

  // "y[3]": by the buffer that begins nearest before it.
  std::string name_of(const void* place) const {
    size_t nearest = 0;
    for (size_t i = 0; i < kernel_.neutral->buffers.size(); ++i) {
      const bool begins_before = buffers_[i] <= place, is_nearer = buffers_[nearest] > place || buffers_[i] > buffers_[nearest];
      if (begins_before && is_nearer) nearest = i;
    }
    const loop::Buffer& buffer = kernel_.neutral->buffers[nearest];
    return fmt::format("{}[{}]", buffer.name,
                       (static_cast<const char*>(place) - static_cast<const char*>(buffers_[nearest])) / size_of(buffer.type));
  }

  // Everything that the grid wrote is taken back, and the neutral kernel writes it.
  void compare_with_neutral(const AsContext& context) {
    std::unordered_map<void*, uint64_t> got;
    for (const auto& [place, old] : old_) {
      got[place] = bits_at(place, old.bytes);
      std::memcpy(place, &old.bits, static_cast<size_t>(old.bytes));
    }
    Watch watch;
    AsContext own = context;
    loop::interpret(*kernel_.neutral, &own, buffers_, dims_, runtime::find_extern, &watch);
    const auto compare = [&](const Places& places) {
      for (const auto& [place, old] : places) {
        const uint64_t expected = bits_at(place, old.bytes), given = got.contains(place) ? got[place] : old.bits;
        if (expected == given) continue;
        throw GridFault(fmt::format("kernel {}: the grid gives {} the bits {:#x}; expected {:#x}, as the loops that are not cut do.",
                                    kernel_.neutral->name, name_of(place), given, expected));
      }
    };
    compare(old_);
    compare(watch.was_written);
  }

  static constexpr int32_t stopped = -1;  // by what happened to another block
  const GridKernel& kernel_;
  std::vector<void*> buffers_;
  std::vector<int64_t> dims_;
  std::vector<OwnBlock> blocks_ = std::vector<OwnBlock>(blocks);
  Places old_;  // of the first phase that wrote there

  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0, ended_ = 0;
  int64_t phase_ = 0;
  bool has_stopped_ = false;
  std::string fault_;
  std::exception_ptr failure_;
};

}  // namespace anyshape::test
