// What the backends have in common that run on this machine's processor: its memory, and that all is done when a call returns.
#pragma once
#include "base/float_state.h"
#include "lower/map_cpu.h"
#include "runtime/backends.h"
#include "runtime/cpu/machine_code.h"
#include "runtime/cpu/pool_queue.h"
#include "runtime/item_run.h"
#include "tensor/host_memory.h"

#include <cstring>

namespace anyshape::runtime {

class HostBackend : public Backend {
 public:
  void map(lower::Program& program) const override { lower::map_for_cpu(program, processor()); }
  Memory& memory() override { return host_memory(); }
  void copy_in(void* to, const void* from_host, int64_t bytes) override { copy(to, from_host, bytes); }
  void copy_out(void* to_host, const void* from, int64_t bytes) override { copy(to_host, from, bytes); }
  void wait() override {}
  void throw_failure() override {}

 protected:
  ~HostBackend() = default;

  template <class Launch>
  static void run_items(const Executable& executable, Record& record, Segment segment, const Launch& launch) {
    PoolQueue<Launch> queue(launch);
    const FlushDenormals flush;
    ItemRun(executable, record, queue).run(segment);
  }

 private:
  static void copy(void* to, const void* from, int64_t bytes) {
    if (bytes > 0) std::memmove(to, from, static_cast<size_t>(bytes));
  }
};

}  // namespace anyshape::runtime
