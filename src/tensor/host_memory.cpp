// There before any other static object and never destroyed: buffers of static objects are freed after everything else is gone.
#include "tensor/host_memory.h"

#include "base/no_fork.h"
#include "tensor/buffer.h"
#include "tensor/system_memory.h"

namespace anyshape {
namespace {

constinit SystemMemory system_memory;

union Forever {
  constexpr Forever() : memory(system_memory, host_device) {}
  ~Forever() {}
  Forever(const Forever&) = delete;
  Forever& operator=(const Forever&) = delete;
  Memory memory;
};
constinit Forever host;

[[maybe_unused]] const bool registered = [] {
  add_around_fork({.before = [] { host.memory.before_fork(); }, .after = [](bool in_child) { host.memory.after_fork(in_child); }});
  return true;
}();

}  // namespace

Memory& host_memory() noexcept { return host.memory; }

MemoryUse memory_use() { return host.memory.use(); }

int64_t trim_memory() { return host.memory.trim(); }

}  // namespace anyshape
