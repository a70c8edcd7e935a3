// The processors that code is generated for. Nothing of LLVM is visible here.
#pragma once
#include "loop/target.h"

#include <string>

namespace anyshape::codegen {

const loop::Target& host_target();  // the one this process runs on

// A lesser processor of the host's kind ("x86-64-v3": AVX2, "x86-64-v2": SSE4), so that one machine can test every path of the emitter.
loop::Target target_for(const std::string& cpu);

// With its vector width: "znver4, 64-byte vectors". Part of a cache's key.
std::string description(const loop::Target& target);

}  // namespace anyshape::codegen
