// The emitter's state while one kernel is turned into LLVM functions; its methods are spread over emit_*.cpp by subject.
// Internal to codegen/.
#pragma once
#include "codegen/lanes.h"
#include "loop/externs.h"
#include "loop/ir.h"
#include "loop/target.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace anyshape::codegen {

class Emitter {
 public:
  Emitter(llvm::Module& module, const loop::Kernel& kernel, std::string symbol, loop::ExternLookup externs, const loop::Target& target);
  void emit_entry();

 private:
  using Constant = llvm::Constant;

  // The function being written. A Parallel loop's body gets a new one.
  struct Function {
    llvm::Function* function = nullptr;
    llvm::Value *context = nullptr, *buffers = nullptr, *dims = nullptr;
    llvm::Instruction* entry_end = nullptr;    // allocas and values of the whole function stand before it
    std::vector<llvm::Value*> pointers;        // of buffers, loaded at entry on first use
    std::vector<std::optional<Lanes>> values;  // by Value id
  };

  struct PendingStore {
    int32_t buffer;
    Lanes offset;        // stride 1
    llvm::Value* value;  // a vector in memory form
  };

  // A loop whose addresses step by additions: what is the same in every iteration is computed at the end of `enter`.
  struct Around {
    llvm::BasicBlock* enter = nullptr;
    llvm::SmallPtrSet<llvm::BasicBlock*, 8> blocks = {};
    bool keeps_addresses = false;                                                 // registers are enough for all of them
    std::map<std::pair<int32_t, llvm::Value*>, llvm::Value*> addresses = {};      // of a buffer behind a fixed offset
    llvm::PHINode* counter = nullptr;                                             // of a serial loop that counts upwards
    llvm::SmallVector<std::pair<llvm::PHINode*, llvm::Value*>, 2> products = {};  // of the counter, with what they grow by
  };

  // The vector loop being written. Its last vector may be partial: lanes from `remaining` on hold garbage that must have no effect.
  struct VectorLoop {
    int width = 0;
    llvm::Instruction* remaining = nullptr;  // i64: indices from lane 0 to the end of the loop; at least 1
    llvm::Value* full = nullptr;             // i1: the vector is not partial
    llvm::Value* mask = nullptr;             // <width x i1>: lanes before the end, for gathers; made on first use
    std::vector<bool> varying;
    std::vector<Around> around;         // the vector loop, and the serial loops in it that are open
    std::vector<PendingStore> pending;  // stores held back so that a vector tests for the partial case once
  };

  // emit_kernel.cpp: functions, blocks, branches, calls
  void begin_function(llvm::Function* function, const loop::Block& body, bool repeats);
  llvm::FunctionType* body_type();
  llvm::FunctionType* entry_type();
  void set_attributes(llvm::Function* function, bool is_worth_time);
  void emit_block(const loop::Block& block);
  void emit(const loop::Instruction& instruction);
  void emit_if(const loop::Instruction& instruction);
  void emit_call(const loop::Instruction& instruction);
  void return_if_failed(llvm::Value* code);
  llvm::BasicBlock* new_block(const char* name);
  llvm::Value* at_entry(const std::function<llvm::Value*()>& make);
  llvm::AllocaInst* scratch(llvm::Type* type);

  // emit_values.cpp: the forms of values, and their types
  Lanes get(loop::Value value);
  void set(loop::Value value, Lanes lanes);
  llvm::Value* scalar(loop::Value value);   // of a value that is Uniform
  llvm::Value* spread(const Lanes& lanes);  // across the lanes of the vector loop
  llvm::Type* value_type(Dtype dtype);      // b8 is i1
  llvm::Type* memory_type(Dtype dtype);
  llvm::Value* from_memory(Dtype dtype, llvm::Value* stored);
  llvm::Value* to_memory(Dtype dtype, llvm::Value* value);
  Lanes emit_constant(const loop::Instruction& instruction);
  Lanes emit_size(int64_t dim);
  Lanes emit_scalar_op(const loop::Instruction& instruction);
  std::optional<Lanes> emit_affine(const loop::Instruction& instruction, std::span<const Lanes> args);
  bool is_vector_loop() const { return vector_.has_value(); }
  Dtype type_of(loop::Value value) const { return kernel_.types[static_cast<size_t>(value.id)]; }

  // emit_arithmetic.cpp, emit_cast.cpp: on scalars and vectors alike
  llvm::Value* arithmetic(const loop::Instruction& instruction, Dtype type, std::span<llvm::Value* const> args);
  llvm::Value* float_op(loop::Op op, std::span<llvm::Value* const> args);
  llvm::Value* integer_op(loop::Op op, Dtype type, std::span<llvm::Value* const> args);
  llvm::Value* extreme(loop::Op op, Dtype type, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(loop::Op op, Dtype type, llvm::Value* a, llvm::Value* b);
  llvm::Value* floor_divide(loop::Op op, Dtype type, llvm::Value* a, llvm::Value* b);
  llvm::Value* divide_by_number(loop::Op op, Dtype type, llvm::Value* a, int64_t number);
  llvm::Value* quotient(Dtype type, llvm::Value* a, llvm::Value* b);
  llvm::Value* shift(loop::Op op, Dtype type, llvm::Value* a, llvm::Value* amount);
  llvm::Value* cast(Dtype from, Dtype to, llvm::Value* value);
  llvm::Value* float_to_integer(Dtype to, llvm::Value* value);
  llvm::Value* bitcast(Dtype from, Dtype to, llvm::Value* value);
  llvm::Type* like(llvm::Type* element, llvm::Value* shape);  // `element`, or a vector of it as wide as `shape`
  Constant* integer_like(llvm::Value* shape, int64_t number);
  Constant* float_like(llvm::Value* shape, double number);

  // emit_memory.cpp
  llvm::Value* pointer(int32_t buffer);
  llvm::Value* address(int32_t buffer, llvm::Value* offset);
  Lanes emit_load(const loop::Instruction& instruction);
  llvm::Value* load_vector(int32_t buffer, const Lanes& offset);
  llvm::Value* vector_address(int32_t buffer, const Lanes& offset);
  llvm::Value* before_loop(const std::function<llvm::Value*()>& make);
  bool is_fixed(const llvm::Value* value) const;  // the same in every iteration of the innermost loop around
  llvm::Value* times_counter(llvm::Value* counter, llvm::Value* number);
  llvm::Value* gather(int32_t buffer, const Lanes& offset);
  void emit_store(const loop::Instruction& instruction);
  void scatter(int32_t buffer, const Lanes& offset, llvm::Value* stored);
  void for_lanes_before_end(const std::function<void(llvm::Value* lane)>& body);
  llvm::Value* lanes_before_end(int first, int count);  // <count x i1>, for lanes from `first` on
  llvm::Value* gather_mask();
  void flush_stores();
  void store_pending(bool partial);
  void store_partial(const PendingStore& store);
  bool has_hardware_mask(int64_t bytes) const { return target_.has_lane_masks && bytes >= 4; }
  llvm::Instruction* mark_invariant(int32_t buffer, llvm::Instruction* load);

  // emit_loops.cpp, emit_reduce.cpp, emit_parallel.cpp
  void open_loop(const loop::Block& body, llvm::BasicBlock* enter, llvm::BasicBlock* head, llvm::PHINode* counter);
  void emit_serial(const loop::Instruction& loop);
  void emit_vector(const loop::Instruction& loop);
  // The basic blocks of a loop over vectors, which comes after `enter`; `exit` is entered in two cases: full last vector, partial last vector.
  struct LoopBlocks {
    llvm::BasicBlock *enter = nullptr, *head = nullptr, *full = nullptr, *partial = nullptr, *exit = nullptr;
    llvm::PHINode* index = nullptr;
    llvm::Value* end = nullptr;
  };
  LoopBlocks begin_vectors(const loop::Instruction& loop, llvm::Value* begin, llvm::Value* end, LoopBlocks blocks, int least_width);
  void begin_body(const LoopBlocks& blocks);
  void end_full_block(const LoopBlocks& blocks);
  void emit_reduce(const loop::Instruction& loop);
  llvm::SmallVector<llvm::Value*, 4> reduce_run(const loop::Instruction& loop, llvm::Value* begin, llvm::Value* end, LoopBlocks blocks);
  Constant* identity(loop::Combine combine, Dtype type);
  Constant* of_nothing(loop::Combine combine, Dtype type);
  llvm::Value* combine(loop::Combine combine, Dtype type, llvm::Value* a, llvm::Value* b);
  llvm::Value* combine_vector(loop::Combine how, Dtype type, llvm::Value* accumulator, llvm::Value* contribution, bool partial);
  llvm::Value* combine_lanes(loop::Combine how, Dtype type, llvm::Value* accumulator);
  void emit_parallel(const loop::Instruction& loop);
  llvm::Function* emit_parallel_body(const loop::Instruction& loop, std::span<const loop::Value> captured);
  llvm::Value* to_frame(Dtype type, llvm::Value* value);
  llvm::Value* from_frame(Dtype type, llvm::Value* word);

  llvm::Module& module_;
  const loop::Kernel& kernel_;
  std::string symbol_;
  loop::ExternLookup externs_;
  const loop::Target& target_;
  llvm::IRBuilder<> builder_;
  std::vector<const loop::Instruction*> definitions_;  // of Constants and Sizes, by Value id: made anew in every function
  Function function_;
  std::optional<VectorLoop> vector_;
  int parallel_bodies_ = 0;
};

}  // namespace anyshape::codegen
