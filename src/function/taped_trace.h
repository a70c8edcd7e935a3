// A trace that tapes follow as one call: its forward part keeps values, its backward parts give gradients from these. A backward part is itself a
// call that tapes further out follow, so there are gradients of gradients. The trace stays open: a backward part is traced, cut out of the
// whole and compiled when it is asked for, for the inputs that want gradients and the results that have one.
#pragma once
#include "autodiff/trace_recorder.h"
#include "base/fork_mutex.h"
#include "function/compile.h"
#include "function/flight.h"
#include "function/tracer.h"
#include "graph/op_def.h"

#include <anyshape/ledger.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace anyshape::function_detail {

// What functions compile after their traces were made, counted by the function that is asked.
struct LateCompiles {
  std::atomic<int64_t> compiles{0}, code_bytes{0};
  std::atomic<double> trace_ms{0}, compile_ms{0};
};

// Something that runs and that tapes follow, by its tensors in the trace.
struct TapedPart {
  std::vector<std::vector<Tensor>> sources;  // per input that tapes know: what counts as it
  std::vector<Tensor> targets;               // per output that depends on one
  std::vector<Tensor> seeds;                 // what it was given beside inputs and kept values: gradients, those of the parts before first
  struct Backward;
  mutable std::vector<std::shared_ptr<const Backward>> backwards = {};  // made so far

  TapedPart() = default;
  TapedPart(const TapedPart&) = delete;
  TapedPart& operator=(const TapedPart&) = delete;
  virtual ~TapedPart() = default;
};

struct TapedPart::Backward final : TapedPart {
  std::vector<bool> needed, reached;
  bool twice = false;
  std::vector<std::optional<size_t>> gradient_of;  // per source of the part that it is the gradient of: which output, if any
  struct Input {
    enum class Kind : uint8_t { Seed, Kept, Forward, Variable, Held } kind;
    size_t number = 0;
    std::shared_ptr<VariableState> variable = {};
    Tensor held = {};
  };
  std::vector<Input> inputs;             // of the program
  std::vector<graph::Check> checks;      // that it needs beside those of the forward part
  std::vector<graph::Value*> gradients;  // in the whole graph, as `targets`
  std::shared_ptr<graph::Graph> graph;   // until it is compiled
  Compiled compiled;
  std::string words;
  double trace_ms = 0;
  mutable std::atomic<int64_t> calls{0};
};

class TapedTrace {
 public:
  TapedTrace(std::string name, std::span<const TensorSpec> arguments, Bindings hints, std::vector<Dim> symbols,
             std::shared_ptr<LateCompiles> late);
  ~TapedTrace();
  TapedTrace(const TapedTrace&) = delete;
  TapedTrace& operator=(const TapedTrace&) = delete;

  void allow_creation() { tracer_.allow_creation(); }
  // The trace of a callable; its graph is shared with this object.
  template <class Body>
  Trace run(const Body& body) {
    Trace trace = tracer_.run([&](std::span<const Tensor> inputs) -> FunctionResults {
      arguments_.assign(inputs.begin(), inputs.end());
      const TraceRecorder::Recording recording(recorder_, true);
      FunctionResults results = run_scope([&] { return body(inputs); });
      results_ = results.tensors;
      return results;
    });
    whole_ = trace;
    return trace;
  }

  // Settles what the tapes of this thread follow: of the arguments by the given tensors. What throws cannot be differentiated.
  void settle(std::span<const Tensor> arguments);
  Trace forward() const;  // the part that runs at a call
  // Whether the tapes of this thread follow the same of what is no argument.
  bool is_followed_alike() const;

  // One call, as its gradients need it.
  struct Call {
    std::shared_ptr<const TapedTrace> trace;
    std::vector<Tensor> inputs;  // of the forward part; undefined where no gradient reads it
    std::vector<Tensor> kept;
    std::vector<int64_t> values;  // of the trace's symbols
    runtime::RandomState random;
  };
  // Tells the tapes of this thread of a call: `given` are the inputs as they know them, `results` those of the forward part, of which what is
  // kept is taken away.
  static void tell(Call call, std::span<const Tensor> given, std::vector<Tensor>& results);
  // The forward part's inputs, as far as gradients read them: an undefined handle for each of the others. Appended to those that are there.
  std::vector<Tensor> read_inputs(std::vector<Tensor> first, std::span<const Tensor> inputs) const;

  // "; it follows w, keeps f32[batch, 2]; backward part: result 0 by w (12 calls, compiled in 3.1 ms)", for the ledger.
  std::string words() const;
  std::vector<std::shared_ptr<const TapedPart::Backward>> backwards() const;  // those that were asked for so far

 private:
  friend struct TapedCallAttrs;
  using Part = TapedPart;
  using Backward = TapedPart::Backward;

  struct Followed {
    enum class Kind : uint8_t { Argument, Variable, Outside } kind;
    size_t number = 0;  // among the forward part's inputs
    Tensor outside = {};
  };

  const Backward& backward_of(const Part& part, std::span<const bool> needed, std::span<const bool> reached, bool twice) const;
  const Backward* find(const Part& part, std::span<const bool> needed, std::span<const bool> reached, bool twice) const;
  std::shared_ptr<Backward> differentiate(const Part& part, std::span<const bool> needed, std::span<const bool> reached, bool twice) const;
  void cut_out(Backward& backward) const;
  void compile(Backward& backward) const;
  std::vector<Tensor> run(const Backward& backward, const Call& call, std::span<const Tensor> seeds) const;
  std::string words_of(const Part& part, std::span<const bool> needed, std::span<const bool> reached) const;

 public:
  static std::vector<Tensor> pull_back(const GradientCall& gradient);

 private:
  std::string name_;
  std::vector<Dim> symbols_;
  std::shared_ptr<LateCompiles> late_;
  mutable Tracer tracer_;  // under the flight, as all that is mutable but for the lists of backward parts
  mutable TraceRecorder recorder_;
  mutable Trace whole_;
  mutable Flights flights_;
  mutable ForkMutex mutex_;  // of the lists

  std::vector<Tensor> arguments_, results_;
  std::vector<graph::Value*> outputs_;  // of the trace: results, then assigned variables
  size_t forward_nodes_ = 0;
  std::vector<graph::Value*> inputs_;  // of the forward part
  std::shared_ptr<Backward> first_;    // of everything by everything: traced at once, since it says what to keep
  std::vector<Followed> followed_;
  std::vector<std::string> names_;
  struct ReadVariable {
    std::shared_ptr<VariableState> state;
    bool is_followed;
    size_t input;  // of the forward part
  };
  std::vector<ReadVariable> variables_;
  std::vector<std::pair<Tensor, bool>> outside_;  // likewise, tensors from outside the trace
  std::vector<size_t> targets_;                   // among the results
  std::vector<graph::Value*> kept_;
  std::vector<std::pair<Dim, size_t>> made_;  // data-dependent sizes, and which of the kept values holds them
  std::vector<bool> is_read_;
  std::shared_ptr<Part> part_ = std::make_shared<Part>();
  mutable std::vector<std::shared_ptr<const Backward>> all_;
};

}  // namespace anyshape::function_detail
