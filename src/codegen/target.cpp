// The host's processor, as LLVM knows it.
#include "codegen/target.h"

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/SubtargetFeature.h>

namespace anyshape::codegen {

static loop::Target describe_host() {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  loop::Target result;
  result.triple = llvm::sys::getProcessTriple();
  result.cpu = llvm::sys::getHostCPUName().str();
  const llvm::StringMap<bool> present = llvm::sys::getHostCPUFeatures();
  llvm::SubtargetFeatures features;
  for (const auto& feature : present) features.AddFeature(feature.first(), feature.second);
  result.features = features.getString();
  const auto has = [&](llvm::StringRef name) { return present.lookup(name); };
  result.has_lane_masks = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  result.has_masked_store = result.has_lane_masks || has("avx2");
  result.vector_bytes = result.has_lane_masks ? 64 : has("avx2") ? 32 : 16;
  return result;
}

const loop::Target& host_target() {
  static const loop::Target described = describe_host();
  return described;
}

loop::Target target_for(const std::string& cpu) {
  loop::Target target = host_target();
  target.cpu = cpu;
  target.features = "";
  target.has_lane_masks = false;
  target.has_masked_store = cpu == "x86-64-v3";
  target.vector_bytes = cpu == "x86-64-v3" ? 32 : 16;
  return target;
}

std::string description(const loop::Target& target) { return fmt::format("{}, {}-byte vectors", target.cpu, target.vector_bytes); }

}  // namespace anyshape::codegen
