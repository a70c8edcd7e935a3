// A program's kernels for the backend of this machine's processor.
#include "runtime/cpu/machine_code.h"

#include "codegen/jit.h"
#include "codegen/target.h"
#include "runtime/cpu/externs.h"

namespace anyshape::runtime {

const loop::Target& processor() { return codegen::host_target(); }

std::shared_ptr<const MachineCode> generate_machine_code(const lower::Program& program) {
  std::vector<const loop::Kernel*> kernels;
  for (const lower::Launch& launch : program.launches) kernels.push_back(launch.kernel.get());
  std::shared_ptr<const codegen::CompiledKernels> compiled = codegen::compile(kernels, find_extern, codegen::host_target());
  auto code = std::make_shared<MachineCode>();
  for (size_t launch = 0; launch < kernels.size(); ++launch) code->entries.push_back(compiled->entry(launch));
  code->code_bytes = compiled->code_bytes();
  code->holder = std::move(compiled);
  return code;
}

}  // namespace anyshape::runtime
