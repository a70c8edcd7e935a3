// How a value of the loop IR lives in generated code: as one scalar, or across the lanes of a vector loop. Internal to codegen/.
#pragma once
#include "loop/ir.h"

#include <llvm/IR/IRBuilder.h>

#include <vector>

namespace anyshape::codegen {

enum class Form : uint8_t {
  Uniform,  // one scalar, the same in every lane (and every value outside of vector loops)
  Affine,   // i64: `value` in lane 0, growing by `stride` from lane to lane
  Varying,  // a vector, one element per lane
};

struct Lanes {
  Form form = Form::Uniform;
  llvm::Value* value = nullptr;
  int64_t stride = 0;

  static Lanes uniform(llvm::Value* value) { return {Form::Uniform, value, 0}; }
  static Lanes varying(llvm::Value* value) { return {Form::Varying, value, 0}; }
  static Lanes affine(llvm::Value* base, int64_t stride) { return {stride == 0 ? Form::Uniform : Form::Affine, base, stride}; }
};

// Marks (by Value id) what differs between the lanes of the vector loop `loop`: everything that depends on its index.
std::vector<bool> find_varying(const loop::Kernel& kernel, const loop::Instruction& loop);

// Lanes per iteration of a vector loop: the host's vector of 4-byte elements, times an unroll factor that falls with the size of the body.
int choose_width(const loop::Kernel& kernel, const loop::Instruction& loop, const std::vector<bool>& varying, int vector_bytes);

}  // namespace anyshape::codegen
