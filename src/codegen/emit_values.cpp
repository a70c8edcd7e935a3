// Values and their forms: scalars, affine indices, vectors; their types in registers and in memory.
#include "codegen/emitter.h"

#include <anyshape/error.h>
#include <fmt/format.h>
#include <llvm/IR/Constants.h>

#include <algorithm>
#include <array>

namespace anyshape::codegen {

using loop::Instruction;
using loop::Op;
using loop::Value;

Lanes Emitter::get(Value value) {
  const size_t id = static_cast<size_t>(value.id);
  if (const auto& known = function_.values[id]) return *known;
  const Instruction* definition = definitions_[id];
  if (definition == nullptr)
    throw InternalError(fmt::format("codegen: kernel {}: value %{} is used before it is made", kernel_.name, value.id));
  const Lanes lanes = definition->op == Op::Constant ? emit_constant(*definition) : emit_size(definition->integer);
  set(value, lanes);
  return lanes;
}

void Emitter::set(Value value, Lanes lanes) { function_.values[static_cast<size_t>(value.id)] = lanes; }

llvm::Value* Emitter::scalar(Value value) {
  const Lanes lanes = get(value);
  if (lanes.form != Form::Uniform) {
    throw InternalError(
        fmt::format("codegen: kernel {}: value %{} differs between lanes where one value is needed", kernel_.name, value.id));
  }
  return lanes.value;
}

llvm::Value* Emitter::spread(const Lanes& lanes) {
  if (lanes.form == Form::Varying) return lanes.value;
  const unsigned width = static_cast<unsigned>(vector_->width);
  llvm::Value* const base = builder_.CreateVectorSplat(width, lanes.value);
  if (lanes.form == Form::Uniform) return base;
  llvm::SmallVector<llvm::Constant*, 64> offsets;
  for (unsigned lane = 0; lane < width; ++lane) offsets.push_back(builder_.getInt64(static_cast<uint64_t>(lanes.stride) * lane));
  return builder_.CreateAdd(base, llvm::ConstantVector::get(offsets));
}

llvm::Type* Emitter::value_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::b8: return builder_.getInt1Ty();
    case Dtype::u8: return builder_.getInt8Ty();
    case Dtype::i32: return builder_.getInt32Ty();
    case Dtype::i64: return builder_.getInt64Ty();
    case Dtype::f32: return builder_.getFloatTy();
    case Dtype::f64: return builder_.getDoubleTy();
    default: throw InternalError(fmt::format("codegen: kernel {}: {} has no code", kernel_.name, to_string(dtype)));
  }
}

llvm::Type* Emitter::memory_type(Dtype dtype) {
  if (is_half(dtype)) return builder_.getInt16Ty();
  return dtype == Dtype::b8 ? builder_.getInt8Ty() : value_type(dtype);
}

llvm::Value* Emitter::from_memory(Dtype dtype, llvm::Value* stored) {
  if (is_half(dtype)) return builder_.CreateZExt(stored, like(builder_.getInt32Ty(), stored));
  return dtype == Dtype::b8 ? builder_.CreateIsNotNull(stored) : stored;
}

llvm::Value* Emitter::to_memory(Dtype dtype, llvm::Value* value) {
  if (is_half(dtype)) return builder_.CreateTrunc(value, like(builder_.getInt16Ty(), value));
  return dtype == Dtype::b8 ? builder_.CreateZExt(value, like(builder_.getInt8Ty(), value)) : value;
}

Lanes Emitter::emit_constant(const Instruction& instruction) {
  llvm::Type* const type = value_type(instruction.type);
  if (is_floating(instruction.type)) return Lanes::uniform(llvm::ConstantFP::get(type, instruction.number));
  return Lanes::uniform(llvm::ConstantInt::get(type, static_cast<uint64_t>(instruction.integer), true));
}

Lanes Emitter::emit_size(int64_t dim) {
  return Lanes::uniform(at_entry([&] {
    llvm::Type* const type = builder_.getInt64Ty();
    llvm::LoadInst* load = builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(type, function_.dims, static_cast<uint64_t>(dim)));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.getContext(), {}));
    return load;
  }));
}

bool Emitter::is_fixed(const llvm::Value* value) const {
  const auto* const instruction = llvm::dyn_cast<llvm::Instruction>(value);
  return instruction == nullptr || !vector_->around.back().blocks.contains(instruction->getParent());
}

llvm::Value* Emitter::before_loop(const std::function<llvm::Value*()>& make) {
  const llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(vector_->around.back().enter->getTerminator());
  return make();
}

// Index arithmetic keeps its form, so that addresses stay scalar: sums, differences, and products with constants. What is fixed of it is computed
// before the loop.
std::optional<Lanes> Emitter::emit_affine(const Instruction& instruction, std::span<const Lanes> args) {
  if (instruction.type != Dtype::i64 || args.size() != 2) return std::nullopt;
  const Lanes &a = args[0], &b = args[1];
  if (a.form == Form::Varying || b.form == Form::Varying) return std::nullopt;
  const auto fixed_of = [&](const Lanes& x) { return is_fixed(x.value) ? x.value : x.form == Form::Affine ? x.fixed : nullptr; };
  const auto moving_of = [&](const Lanes& x) { return is_fixed(x.value) ? nullptr : x.form == Form::Affine ? x.moving : x.value; };
  const auto sum = [&](llvm::Value* x, llvm::Value* y) { return x == nullptr ? y : y == nullptr ? x : builder_.CreateAdd(x, y); };
  if (instruction.op == Op::Add) {
    llvm::Value* const fixed = before_loop([&] { return sum(fixed_of(a), fixed_of(b)); });
    return Lanes::affine(builder_.CreateAdd(a.value, b.value), a.stride + b.stride, fixed, sum(moving_of(a), moving_of(b)));
  }
  if (instruction.op == Op::Subtract) {
    llvm::Value* const value = builder_.CreateSub(a.value, b.value);
    return Lanes::affine(value, a.stride - b.stride, nullptr, value);
  }
  if (instruction.op != Op::Multiply) return std::nullopt;
  const auto times = [&](const Lanes& x, llvm::Value* number) {
    const auto scaled = [&](llvm::Value* part) { return part == nullptr ? nullptr : builder_.CreateMul(part, number); };
    llvm::Value* const fixed = before_loop([&] { return scaled(fixed_of(x)); });
    return Lanes::affine(builder_.CreateMul(x.value, number), llvm::cast<llvm::ConstantInt>(number)->getSExtValue() * x.stride, fixed,
                         scaled(moving_of(x)));
  };
  if (a.form == Form::Uniform && llvm::isa<llvm::ConstantInt>(a.value)) return times(b, a.value);
  if (b.form == Form::Uniform && llvm::isa<llvm::ConstantInt>(b.value)) return times(a, b.value);
  return std::nullopt;
}

// Grows by additions instead of being multiplied in every iteration; null where the product is another one.
llvm::Value* Emitter::times_counter(llvm::Value* counter, llvm::Value* number) {
  Around& loop = vector_->around.back();
  if (loop.counter == nullptr || counter != loop.counter || llvm::isa<llvm::Constant>(number) || !is_fixed(number)) return nullptr;
  const auto known = std::ranges::find(loop.products, number, &std::pair<llvm::PHINode*, llvm::Value*>::second);
  if (known != loop.products.end()) return known->first;
  llvm::PHINode* const product = llvm::PHINode::Create(counter->getType(), 2, "", loop.counter->getParent()->begin());
  product->addIncoming(before_loop([&] { return builder_.CreateMul(loop.counter->getIncomingValueForBlock(loop.enter), number); }),
                       loop.enter);
  loop.products.emplace_back(product, number);
  return product;
}

Lanes Emitter::emit_scalar_op(const Instruction& instruction) {
  llvm::SmallVector<Lanes, 3> args;
  bool uniform = true;
  for (const Value arg : instruction.args) {
    args.push_back(get(arg));
    uniform = uniform && args.back().form == Form::Uniform;
  }
  if (!uniform) {
    if (const auto affine = emit_affine(instruction, {args.data(), args.size()})) return *affine;
  }
  if (uniform && is_vector_loop() && instruction.op == Op::Multiply && instruction.type == Dtype::i64) {
    if (llvm::Value* const product = times_counter(args[0].value, args[1].value)) return Lanes::uniform(product);
    if (llvm::Value* const product = times_counter(args[1].value, args[0].value)) return Lanes::uniform(product);
  }
  llvm::SmallVector<llvm::Value*, 3> operands;
  for (const Lanes& lanes : args) operands.push_back(uniform ? lanes.value : spread(lanes));
  llvm::Value* const result = arithmetic(instruction, type_of(instruction.args.back()), {operands.data(), operands.size()});
  return uniform ? Lanes::uniform(result) : Lanes::varying(result);
}

}  // namespace anyshape::codegen
