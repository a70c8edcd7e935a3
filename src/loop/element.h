// What an op's lowering rules see. An ElementRule says one output element in terms of input elements, which is what makes ops fuse: an input
// may be memory or another op's element rule. A LowerRule writes whole loops over inputs that stand in memory, or says what the target's library does.
#pragma once
#include "graph/op_def.h"
#include "loop/build.h"
#include "loop/library_work.h"

#include <span>
#include <vector>

namespace anyshape {

class ElementCall {
 public:
  ElementCall(loop::Builder& builder, const OpCall& call, const TensorSpec& output, std::span<const loop::Value> index)
      : b(builder), call(call), output(output), index(index) {}
  virtual ~ElementCall() = default;

  loop::Builder& b;
  const OpCall& call;
  const TensorSpec& output;
  std::span<const loop::Value> index;  // of the output element, one i64 per axis

  virtual loop::Value input(int k, std::span<const loop::Value> index) = 0;  // an element of input k
  virtual loop::Value operand(int k) = 0;                                    // the element of input k that broadcasting puts at `index`
  struct Pair {
    loop::Value a, b;
  };
  Pair operands() { return {operand(0), operand(1)}; }             // in this order, which that of a call's arguments is not
  virtual bool is_at_most_zero(int /*k*/) const { return false; }  // input k is known to be, or NaN, by what made it
  virtual loop::Value size(const Dim& dim) = 0;                    // a size as an i64
  virtual loop::Value linear_index() = 0;                          // the element's number in row-major order
  virtual loop::Value random_key() = 0;                            // i64: the process's key
  virtual loop::Value random_counter() = 0;                        // i64: differs for every op of every call
};

class LowerCall {
 public:
  LowerCall(loop::Builder& builder, const OpCall& call, std::span<const TensorSpec> outputs) : b(builder), call(call), outputs(outputs) {}
  virtual ~LowerCall() = default;

  loop::Builder& b;
  const OpCall& call;
  std::span<const TensorSpec> outputs;

  virtual int32_t input(int k) = 0;  // buffers, row-major but for inputs that the op's LayoutRule lets through
  virtual int32_t output(int k) = 0;
  virtual Dim stride(int k, int axis) = 0;  // of input k, in elements
  virtual bool is_row_major(int k) = 0;
  virtual int32_t scratch(Dtype dtype, const Dim& count) = 0;
  virtual loop::Value size(const Dim& dim) = 0;
  virtual bool is_known_at_call(const Dim& dim) = 0;                              // and neither data-dependent nor set by a loop
  virtual int op_number() = 0;                                                    // for failures: which op of the program this is
  virtual void decide(std::string_view stage, bool yes, std::string reason) = 0;  // a Decision about this op

  // No loops, but a library's work on the op's inputs, outputs and scratch; what follows on the blocks of output 0 is the library's to call.
  struct Scratch {
    Dtype dtype;
    Dim count;
  };
  virtual void use_library(LibraryWork work, std::vector<Scratch> scratch) = 0;

  // A block of output 0, which is seen as rows of its last axis.
  struct Block {
    loop::Value first_row, end_row, first_column, end_column;
  };
  // Contractions say so in the task that has just written a block: what follows element by element is computed there, while it is in cache.
  virtual void written(const Block&) {}
};

}  // namespace anyshape
