// What a thread knows while it runs user code: who runs the ops that it calls, the trace that they become part of, whose call is in progress,
// and what it does otherwise than usual for a while. Everything that belongs to a scope of a thread stands here and nowhere else
// (`tools/check_thread_state.py`); a class whose object is the scope sets a field and puts it back. What a thread merely keeps for later, such
// as memory, stays with who keeps it.
//
// Folders below are known by name only: each field is set and read by the folder that declares its type.
#pragma once
#include <atomic>
#include <cstdint>
#include <string>
#include <type_traits>

namespace anyshape {

struct BranchJudge;
class CloneScope;
struct DimJudge;
struct EndsOutside;
class Interpreter;
class NamedCall;
class ScopedWithout;
class TraceScope;
class VariableScope;
class VariableUndo;
namespace detail {
struct LayerState;
}  // namespace detail
namespace function_detail {
class Activation;
class RandomScope;
}  // namespace function_detail
namespace nn {
struct Description;
class LoadingScope;
class StepLosses;
}  // namespace nn
namespace random {
class SeedScope;
}  // namespace random
namespace runtime {
class Backend;
}  // namespace runtime

// The trace in progress: who answers what user code asks while it is traced.
struct OpenTrace {
  DimJudge* sizes = nullptr;           // `if (x.shape()[0] > 3)`
  BranchJudge* branches = nullptr;     // `if (x > 3)`
  VariableScope* variables = nullptr;  // variables that are read, assigned, made
  TraceScope* regions = nullptr;       // bodies of loops and branches
};

// One of the stack of interpreters: the eager one at its end, a trace, tapes in front of either. Who put it there may end on another thread, so
// several hold it (`graph/bind.cpp`).
struct Execution {
  std::atomic<Interpreter*> interpreter = nullptr;  // null once its scope has ended
  const OpenTrace* trace = nullptr;                 // that the ops become part of; null where they run at once
  Execution* outer = nullptr;                       // behind it; null: eager
  std::atomic<int> holders = 1;
};

// Of the scopes in which no other thread forks (`base/no_fork.h`).
struct NoForkScopes {
  int depth = 0;
  bool is_counted = false;      // a fork waits for this thread
  bool is_for_others = false;   // who are inside themselves
  EndsOutside* held = nullptr;  // until the thread is outside
};

struct ThreadContext {
  // Where a call of an op goes. Null: it runs at once. A trace is suspended by one that has no trace.
  Execution* execution = nullptr;
  const OpenTrace* trace() const { return execution != nullptr ? execution->trace : nullptr; }

  // Whose call is in progress: what errors say, what layers ask.
  const NamedCall* named_call = nullptr;                    // of the library's functions, the outermost
  const std::string* place = nullptr;                       // ` In layer "encoder/dense_1".`
  const detail::LayerState* layer = nullptr;                // whose children are called by the names that it gave them
  bool is_training = false;                                 // that layer
  bool is_inside_task = false;                              // a part of a parallel region: one begun now runs on this thread alone
  nn::StepLosses* step_losses = nullptr;                    // takes what layers add to the loss
  nn::Description* description = nullptr;                   // layers are called for the specs of their results: there is no data
  const nn::LoadingScope* loading = nullptr;                // layers are made for weights of a file
  const function_detail::Activation* activation = nullptr;  // functions whose callables run

  // What happens otherwise than usual.
  CloneScope* clones = nullptr;                         // copies of handles are clones
  VariableUndo* undo = nullptr;                         // remembers variables as they were
  function_detail::RandomScope* random_call = nullptr;  // what is drawn counts as one call
  random::SeedScope* seeds = nullptr;                   // where numbers come from instead of the process's
  const ScopedWithout* without = nullptr;               // optimisations that are off
  int quiet = 0;                                        // warnings go nowhere
  int interrupts = 0;                                   // fits that Ctrl-C ends
  runtime::Backend* backend = nullptr;                  // where what is traced and called eagerly runs; null: this machine's processor
  NoForkScopes no_fork;
  int64_t copies = 0;  // row-major ones of views so far, for tests
};
static_assert(std::is_trivially_destructible_v<ThreadContext>, "reading it costs one address, also while the thread ends");

[[gnu::tls_model("initial-exec")]] inline constinit thread_local ThreadContext this_thread;

}  // namespace anyshape
