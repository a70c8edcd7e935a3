// An `if` on a tensor: the callable it stands in is run once for each outcome. What was called before the `if` must come again in the same
// way and is not traced a second time; what follows it, up to the return, is a region of a `cond`.
#pragma once
#include "function/trace_events.h"
#include "function/trace_frame.h"
#include "graph/op_def.h"
#include "graph/trace_scope.h"

#include <memory>
#include <string>
#include <vector>

namespace anyshape::function_detail {

// Whether a call is the one that was recorded: same op, attributes and inputs.
bool is_same_call(const TraceEvents& events, const TraceEvents::Recorded& recorded, const OpDef& op, std::span<const Tensor> inputs,
                  const Attrs& attrs);

// A stretch of a callable up to an `if` or its return. The first stretch is traced in the frame the callable is called in.
struct TracePath {
  TraceFrame* frame = nullptr;
  std::unique_ptr<TraceFrame> own = nullptr;
  TraceEvents events = {};   // as far as a second run must do them again; tapes further out are told of them when the callable has returned
  bool is_complete = false;  // its end is known
  Tensor condition = {};     // of the `if` at its end; undefined: the callable returned
  std::unique_ptr<TracePath> then = nullptr;
  std::unique_ptr<TracePath> otherwise = nullptr;
  std::vector<Tensor> results = {};
};

struct ReplayScope {
  ReplayScope* outer = nullptr;
  bool is_region = false;  // only marks where a region begins: nothing is recorded
  bool is_taped = false;   // a tape stands behind the scope and will be told of its calls
  TracePath root = {};
  TracePath* at = nullptr;
  size_t position = 0;                           // among the events of `at`
  std::vector<bool> plan = {};                   // the outcomes of this run
  size_t decisions = 0;                          // how many of them were asked for
  std::shared_ptr<const void> layout = nullptr;  // of the results
  TraceEvents late_reads = {};                   // readings of variables inside branches
};

inline constexpr size_t most_decisions = 16;  // on one path
inline constexpr int most_runs = 512;         // of one callable

}  // namespace anyshape::function_detail
