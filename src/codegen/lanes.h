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
  // Affine: `value` is fixed + moving, of which `fixed` is the same in every iteration of the vector loop; null where nothing is.
  llvm::Value *fixed = nullptr, *moving = nullptr;

  static Lanes uniform(llvm::Value* value) { return {.form = Form::Uniform, .value = value}; }
  static Lanes varying(llvm::Value* value) { return {.form = Form::Varying, .value = value}; }
  static Lanes affine(llvm::Value* value, int64_t stride, llvm::Value* fixed, llvm::Value* moving) {
    if (stride == 0) return uniform(value);
    return {.form = Form::Affine, .value = value, .stride = stride, .fixed = fixed, .moving = moving};
  }
};

// Marks (by Value id) what differs between the lanes of the vector loop `loop`: everything that depends on its index.
std::vector<bool> find_varying(const loop::Kernel& kernel, const loop::Instruction& loop);

// Loads and stores in a block and those inside it.
int count_accesses(const loop::Block& block);

// Whether vector loops are there whose addresses are few enough to be worth LLVM's own care; those of others stay as the emitter writes them.
bool has_few_addresses(const loop::Kernel& kernel);

// Lanes per iteration of a vector loop: the host's vector of 4-byte elements, times an unroll factor that falls with the size of the body.
int choose_width(const loop::Kernel& kernel, const loop::Instruction& loop, const std::vector<bool>& varying, int vector_bytes);

}  // namespace anyshape::codegen
