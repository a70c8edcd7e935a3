// The interpreter of the loop IR on the processor's memory and library routines.
#include "loop/interpret.h"
#include "runtime/cpu/host_backend.h"

namespace anyshape::runtime {
namespace {

struct InterpretedCode final : Code {
  int interpreted_launches() const override { return static_cast<int>(kernels.size()); }
  std::vector<std::shared_ptr<const loop::Kernel>> kernels;  // one per launch
};

struct Interpreted {
  const std::shared_ptr<const loop::Kernel>* kernels;
  int32_t operator()(AsContext* context, size_t number, std::span<void* const> buffers, std::span<const int64_t> dims) const {
    return loop::interpret(*kernels[number], context, buffers, dims, find_extern);
  }
};

class InterpreterBackend final : public HostBackend {
 public:
  std::string_view name() const override { return "interpreter"; }
  std::shared_ptr<const Code> compile(const lower::Program& program) override {
    auto code = std::make_shared<InterpretedCode>();
    for (const lower::Launch& launch : program.launches) code->kernels.push_back(launch.kernel);
    return code;
  }
  void run(const Executable& executable, Record& record, Segment segment) override {
    run_items(executable, record, segment, Interpreted{static_cast<const InterpretedCode&>(executable.code()).kernels.data()});
  }
};

constinit InterpreterBackend interpreter;

}  // namespace

Backend& interpreter_backend() { return interpreter; }

}  // namespace anyshape::runtime
