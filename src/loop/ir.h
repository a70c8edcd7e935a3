// The loop IR: what stands between the graph and machine code. A Kernel is one structured program over linear buffers and integer
// sizes: loops, scalar instructions in SSA form, and calls of library routines. loop/interpret.h is its definition; codegen/ makes it fast.
#pragma once
#include "base/inline_vector.h"
#include "tensor/half.h"

#include <anyshape/dtype.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace anyshape::loop {

// An SSA value: an index into Kernel::types. Values of enclosing blocks are visible in nested ones.
struct Value {
  int32_t id = -1;
  bool operator==(const Value&) const = default;
  explicit operator bool() const { return id >= 0; }
};

// Integer arithmetic wraps. Floats follow IEEE with denormals flushed to zero. Nothing is reassociated or contracted.
enum class Op : uint8_t {
  // values without operands
  Constant,  // `number` (floats) or `integer` (integers, b8 as 0 or 1)
  Size,      // i64: dims[integer]
  // memory: offsets are in elements, i64
  Load,   // args: offset; `buffer`
  Store,  // args: offset, value; `buffer`; no result. See loaded_as() for f16 and bf16
  // arithmetic on numbers of one type
  Add,
  Subtract,
  Multiply,
  Divide,       // floats only
  FloorDivide,  // integers; by zero gives 0
  Modulo,       // integers, the sign of the divisor; by zero gives 0
  Minimum,
  Maximum,  // a NaN operand gives NaN; of two equal ones the first
  Fma,      // floats: args a, b, c: a * b + c rounded once
  Negate,
  Absolute,
  SquareRoot,
  Floor,
  Ceil,
  Truncate,
  Round,  // Round: half to even; the last four on floats only
  // bits: integers and b8
  And,
  Or,
  Xor,
  Not,
  ShiftLeft,
  ShiftRight,
  ShiftRightLogical,  // a shift amount outside the width gives 0 (ShiftRight: the sign)
  // comparisons: two of one type give b8; any comparison with NaN is false but NotEqual
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Select,   // args: b8, a, b
  Cast,     // to `type`: float to integer truncates, saturates, NaN gives 0; anything to b8 is != 0
  Bitcast,  // between types of equal width
  // structure
  For,
  Reduce,
  If,
  Call,  // a library routine by `name`: args = offsets (one per entry of `buffers`), then i64 integers; no result; see loop/externs.h
};

enum class LoopKind : uint8_t {
  Serial,  // in order; may carry values from iteration to iteration
  // As ops and lowering write loops, whatever they will run on. `work` is how many elements an index stands for: a target cuts by it.
  Each,      // iterations are independent
  Ranges,    // for each of several rows, [0, length) as ranges that a target chooses, all independent of each other
  Runs,      // [begin, end) in order, as many indices at once as a target finds near each other
  Elements,  // iterations are independent; innermost but for Serial loops with uniform bounds
  // As a CPU runs them, made of those by lower/map_cpu.h.
  Parallel,  // Each; `grain` iterations at least go to one task of the pool
  Vector,    // Elements, in vector lanes
};

// What the body of a Ranges loop does with its range, by which a target chooses how long one is. No choice changes a result.
enum class Walk : uint8_t {
  Once,       // goes through it once
  Lines,      // goes through it for one line of a matrix after the other
  Sums,       // the same, and keeps a sum for each index
  Scattered,  // the same, with lines from anywhere
};

// SumTo is a Sum that gives a single contribution as it is, -0 included.
enum class Combine : uint8_t { Sum, SumTo, Product, Maximum, Minimum, All, Any };

using Values = InlineVector<Value, 4>;  // few instructions have more

struct Instruction;
using Block = std::vector<Instruction>;

// One instruction. Which fields count depends on `op`; loop/build.h is the convenient way to make them.
struct Instruction {
  Op op{};
  Dtype type{};                      // of the result
  Values results;                    // none, one, or (For, Reduce) one per carried or combined value
  Values args;                       // For, Reduce: begin, end, then the initial carried values (Serial) or the work (Each, Ranges, Runs);
                                     // Ranges: how many rows there are, their length
  double number = 0;                 // Constant
  int64_t integer = 0;               // Constant, Size; Ranges: the Walk
  int32_t buffer = -1;               // Load, Store
  std::string name;                  // Call: the routine
  InlineVector<int32_t, 4> buffers;  // Call
  // For, Reduce, If:
  LoopKind kind = LoopKind::Serial;
  Value index;                       // For, Reduce: the i64 loop variable, begin <= index < end, stride 1 (or downwards where `reverse`);
                                     // Ranges: the row; Runs: none
  bool reverse = false;              // Serial For
  Value grain;                       // Parallel For: i64, at least 1
  InlineVector<Combine, 8> combine;  // Reduce: one per result
  Values carried;                    // Serial For: the values as seen inside the body; Ranges, Runs: begin and end of one
  Block body;                        // For, Reduce: the body; If: when args[0] (b8) holds
  Block otherwise;                   // If
  Values yields;                     // Serial For: the next carried values; Reduce: what this index contributes
};
// Reduce: runs of 1,024 indices (loop/parts.h), each of which has 16 logical lanes that start at the identity; index `begin + j` is added to lane
// j % 16 of its run. Lanes of a run are added to those of the runs before it, and in the end lanes are combined in the fixed tree
// lane[l] = combine(lane[l], lane[l + half]) for half = 8, 4, 2, 1. Sum starts at 0, SumTo too (floats: at -0; without an index the
// result is 0), Product at 1, Maximum at the type's lowest finite number (floats: -infinity), Minimum at the highest (floats: +infinity), All
// at true, Any at false. A Reduce never stands in a Vector loop.
// Combining flushes denormals, that of Maximum and Minimum, too. A body may store, as that of a Vector loop: iterations are independent of each
// other but for what they contribute.

enum class Access : uint8_t {
  In,
  Out,
  InOut,
  Own,  // read as In, but by an iteration only at the index that it writes in the Out buffers, and before it writes: one of these, with
        // elements as large, may have its memory
};

constexpr bool is_written(Access access) { return access == Access::Out || access == Access::InOut; }

// A buffer parameter: linear memory of `type`. Loads may touch up to 512 bytes past the last element used; stores never do.
struct Buffer {
  std::string name;
  Dtype type{};
  Access access = Access::In;
};

// The type of what is loaded from a buffer and stored to it. Halves have no values of their own: their bits are the low ones of an i32
// (a store takes no notice of the others), and loop/half.h says which f32 they are.
constexpr Dtype loaded_as(Dtype memory) { return is_half(memory) ? Dtype::i32 : memory; }

struct Kernel {
  std::string name;
  std::vector<std::string> dims;  // names of the integer parameters
  std::vector<Buffer> buffers;
  std::vector<Dtype> types;  // of every Value
  Block body;
};

inline constexpr int lanes = 16;            // logical lanes of a Reduce
inline constexpr int64_t load_slack = 512;  // bytes a load may touch past the last element used

}  // namespace anyshape::loop
