// The ledger: what functions did and why, in numbers, in words and as JSON.
#pragma once
#include <anyshape/spec.h>
#include <anyshape/structure_text.h>

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// What a function counted since it was made or cleared.
struct FunctionStats {
  int64_t traces = 0;    ///< times the callable was run to make a graph
  int64_t compiles = 0;  ///< traces turned into machine code
  int64_t calls = 0;
  int64_t hits = 0;                ///< calls served by an earlier trace
  int64_t casts = 0;               ///< arguments cast to the signature's dtype
  int64_t copies = 0;              ///< strided arguments copied at entry
  int64_t evictions = 0;           ///< traces dropped to stay within max_traces and max_code_bytes
  int64_t failed_checks = 0;       ///< calls refused because sizes broke a rule
  int64_t interpreted_groups = 0;  ///< fused groups of ops that run without machine code
  double trace_ms = 0;             ///< with the second run that looks for frozen values
  double compile_ms = 0;
  int64_t code_bytes = 0;  ///< held now: evicted traces have given theirs back
};

/// What made a trace necessary; where several things differ, the first of them.
enum class Cause {
  FirstCall,
  Structure,  ///< another length of a vector, other keys of a map, an optional that is there or not
  HostValue,  ///< another number, enum or string among the arguments
  Object,     ///< another variable, model or optimizer among the arguments, or one that changed
  Rank,
  Dtype,
  Comparison,  ///< another outcome of ==, <, ... on sizes
  Specialize,  ///< another size where dim.specialize() was called
  Size,        ///< another size under Shapes::Relax or Shapes::Exact
  Evicted,     ///< a trace that fitted was dropped to stay within the limits
};
std::string to_string(Cause cause);  ///< "dtype"

/// A host value that is a constant of the graph though another run of the callable gave another value.
struct FrozenValue {
  std::string text;  ///< "add holds the host number 0.076; a second run gave 0.78"
  std::string op;    ///< the op that holds it
};

/// The least and the most that a symbol was in the calls of a trace.
struct SizesSeen {
  std::string name;  ///< of the symbol
  int64_t least = 0;
  int64_t most = 0;
};

/// A number for a size by its name: of a signature, or as the ledger shows it.
struct NamedSize {
  std::string name;
  int64_t value = 0;
};

/// One trace: for what arguments, why it was made, what it demands and what it gives.
struct TraceRecord {
  int64_t number = 0;     ///< counted from 0 in the order traces were made; evicted ones leave gaps
  std::string signature;  ///< "(x: f32[rows, cols])"
  Cause cause = Cause::FirstCall;
  std::string reason;                ///< "first call", or the difference to the nearest earlier trace
  std::string advice;                ///< what to change so that no such trace is needed; empty for the first
  std::vector<ArgumentPart> values;  ///< what is not a tensor among the arguments: {"argument 1 (options.rate)", "0.5"}
  std::vector<TensorSpec> outputs;
  std::vector<std::string> checks;       ///< size rules verified at every call: "add: a1 broadcasts with b1"
  std::vector<std::string> data_sizes;   ///< data-dependent sizes with their bounds: "unique0 <= rows"
  std::vector<std::string> specialized;  ///< sizes this trace is for: "a0 == 2"
  std::vector<FrozenValue> frozen;       ///< found by tracing twice: in the first trace, in all where check_frozen is on
  std::vector<std::string> captured;     ///< tensors and variables from outside that it holds: "dense_1/kernel: f32[784, 512]"
  std::string graph;                     ///< its text form
  int64_t calls = 0;
  std::vector<SizesSeen> sizes;  ///< of the symbols, over all calls
  double trace_ms = 0;
  double compile_ms = 0;
  int64_t code_bytes = 0;
};

/// Everything a function has to tell.
struct Ledger {
  std::string name;
  FunctionStats stats;
  std::vector<TraceRecord> traces;   ///< those that are held
  std::vector<std::string> evicted;  ///< the last ones dropped: "trace 3: (f32[7]), 12 calls"
};

std::string to_text(const Ledger& ledger);  ///< a table for people
std::string to_json(const Ledger& ledger);  ///< one object, its keys in the order of the fields

std::vector<Ledger> functions();  ///< of all functions that exist, in the order they were made
std::string report();             ///< one line for each of them

/// The answer of Function::would_retrace.
struct RetraceForecast {
  bool retraces = false;
  std::string reason;                                  ///< why, and what to change; for a call that would throw, its error; else empty
  explicit operator bool() const { return retraces; }  ///< whether the call would trace
};

}  // namespace anyshape
#pragma GCC visibility pop
