// What a callable did while it was traced, in order. The tensors of all events stand in one list: a deep network has as many events as ops.
#pragma once
#include "graph/op_def.h"
#include "graph/stateful.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace anyshape::function_detail {

class TraceEvents;

// One thing that a second run must do again.
struct TraceEvent {
  enum class Kind : uint8_t { Call, Read, Assign, Scope };
  Kind kind = Kind::Call;
  const OpDef* op = nullptr;                           // Call
  Attrs attrs = {};                                    // Call
  std::string place = {};                              // Call: as in graph::Node
  std::shared_ptr<VariableState> variable = {};        // Read, Assign
  std::shared_ptr<const TraceEvents> inner = nullptr;  // Scope: what happened inside
  std::shared_ptr<const void> layout = nullptr;        // Scope: of the results
};

class TraceEvents {
 public:
  struct Recorded {
    TraceEvent event;
    size_t first, inputs, outputs;  // its tensors
  };

  size_t size() const { return events_.size(); }
  bool empty() const { return events_.empty(); }
  const Recorded& operator[](size_t number) const { return events_[number]; }
  auto begin() const { return events_.begin(); }
  auto end() const { return events_.end(); }

  std::span<const Tensor> inputs(const Recorded& of) const {
    return std::span(tensors_).subspan(of.first, of.inputs);
  }  // Call; Assign: the value
  // Call; Read: the value; Scope: the results.
  std::span<const Tensor> outputs(const Recorded& of) const { return std::span(tensors_).subspan(of.first + of.inputs, of.outputs); }

  void add(TraceEvent event, std::span<const Tensor> inputs, std::span<const Tensor> outputs);
  void append(TraceEvents&& others);
  void clear();

 private:
  std::vector<Recorded> events_;
  std::vector<Tensor> tensors_;
};

}  // namespace anyshape::function_detail
