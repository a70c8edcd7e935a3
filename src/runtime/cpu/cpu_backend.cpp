// Machine code on the pool.
#include "runtime/cpu/host_backend.h"
#include "runtime/cpu/join.h"
#include "runtime/cpu/machine_code.h"
#include "runtime/cpu/warm_up.h"

namespace anyshape::runtime {
namespace {

struct Entries {
  const AsKernel* entries;
  int32_t operator()(AsContext* context, size_t number, std::span<void* const> buffers, std::span<const int64_t> dims) const {
    return entries[number](context, buffers.data(), dims.data());
  }
};

class CpuBackend final : public HostBackend {
 public:
  std::string_view name() const override { return "cpu"; }
  std::shared_ptr<const Code> compile(const lower::Program& program) override { return generate_machine_code(program); }
  void run(const Executable& executable, Record& record, Segment segment) override {
    run_items(executable, record, segment, Entries{static_cast<const MachineCode&>(executable.code()).entries.data()});
  }
  std::optional<Tensor> join(std::span<const Tensor> parts, std::span<const int64_t> sizes, int axis) override {
    return runtime::join(parts, sizes, axis);
  }
  void expect_products() override { start_warming_up_products(); }
};

constinit CpuBackend cpu;

}  // namespace

Backend& cpu_backend() { return cpu; }

}  // namespace anyshape::runtime
