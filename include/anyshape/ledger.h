// The ledger: what a function did and why, in numbers and in words.
#pragma once
#include <anyshape/spec.h>
#include <anyshape/structure_text.h>

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

struct FunctionStats {
  int64_t traces = 0;    // times the callable was run to make a graph
  int64_t compiles = 0;  // traces turned into machine code
  int64_t calls = 0;
  int64_t hits = 0;           // calls served by an earlier trace
  int64_t casts = 0;          // arguments cast to the signature's dtype
  int64_t copies = 0;         // strided arguments copied at entry
  int64_t failed_checks = 0;  // calls refused because sizes broke a rule
  int64_t interpreted_groups = 0;
  double trace_ms = 0;
  double compile_ms = 0;
  int64_t code_bytes = 0;
};

// One trace: for what arguments, why it was made, what it demands and what it gives.
struct TraceRecord {
  std::string signature;                // "(x: f32[rows, cols])"
  std::string reason;                   // "first call", or the difference to the nearest earlier trace and what to do about it
  std::vector<structure::Part> values;  // what is not a tensor among the arguments: {"argument 1 (options.rate)", "0.5"}
  std::vector<TensorSpec> outputs;
  std::vector<std::string> checks;    // size rules verified at every call
  std::vector<std::string> captured;  // tensors and variables from outside that the trace holds: "f32[10, 784]", "kernel1: f32[784, 512]"
  std::string graph;                  // its text form
  double trace_ms = 0;
  double compile_ms = 0;
  int64_t code_bytes = 0;
  int64_t calls = 0;
};

}  // namespace anyshape
#pragma GCC visibility pop
