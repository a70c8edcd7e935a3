// A lowered graph: kernels in order, the buffers they work on, and sizes as expressions. What the runtime runs and the planner lays out.
// Regions of control flow are blocks of their own, run by a control item of the block around them.
#pragma once
#include "graph/graph.h"
#include "loop/ir.h"
#include "loop/library_work.h"
#include "lower/origin.h"
#include "lower/scan_place.h"
#include "lower/update.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace anyshape::lower {

enum class BufferKind : uint8_t {
  Argument,
  Result,
  Temporary,
  Lent,  // the control item that runs the block says where it is: a time step of a sequence, a carried value, a result of the region
};

struct ProgramBuffer {
  BufferKind kind = BufferKind::Temporary;
  int argument = -1;  // Argument: which graph input
  Dtype dtype = Dtype::f32;
  Dim count;            // elements
  int first_item = -1;  // lifetime: first and last item of its block that touch it
  int last_item = -1;
  int slot = -1;           // Temporary: where in the block's arena, by plan_memory
  int block = 0;           // which it belongs to
  std::string value = {};  // what it holds: "%12 add"; empty: what a kernel keeps for itself
};

// A kernel launch: one run of a kernel within a call.
struct Launch {
  std::shared_ptr<const loop::Kernel> kernel;  // equal ones of a program are one: see known_kernels.h
  std::vector<int> buffers;                    // program buffers, one per kernel buffer
  std::vector<Dim> dims;                       // one per kernel dim
  std::vector<std::string> ops = {};           // what it computes: "%12 multiply"
  Origin origin = {};

  std::optional<loop::Access> access_of(int buffer) const;  // none where the launch has nothing to do with it
};

// What the target's library does at one place of a program, and what follows on its result.
struct LibraryCall {
  LibraryWork work;
  std::vector<int> inputs, outputs, scratch;  // program buffers, in the order of the op
  // A launch that runs on each block of output 0 when it has been written: the first sizes of its kernel are the bounds of the block
  // (block_bounds), those of the launch the bounds of the whole output. -1: nothing follows.
  int epilogue = -1;
  std::vector<std::string> ops = {};  // what both compute
  Origin origin = {};
};

// first row, end row, first column, end column
inline constexpr int block_bounds = 4;

struct ProgramResult {
  int buffer = -1;
  TensorSpec spec;
};

// What a failing op number stands for in an error's text.
struct IndexedOp {
  int number = 0;
  std::string name;
  IndexRule rule;     // the index at position p obeys limit p % limits.size(); of row splits: where they end
  std::string place;  // as in graph::Node
};

// What a block gives to the control item that runs it.
struct BlockOutput {
  int buffer = -1;
  bool is_lent = false;  // written where the item wants it; else it is copied there
  Dim count = 0;         // elements: the buffer may be larger, where its size is data-dependent
};

// Runs `then` or `otherwise` by one b8. The outputs of either go to `outputs`.
struct BranchItem {
  int condition = -1;
  int then = -1, otherwise = -1;  // blocks
  std::vector<int> outputs = {};
};

// Runs a call of the library, with its epilogue.
struct LibraryItem {
  int call = -1;  // of Program::library_calls
};

struct CarriedBuffer {
  int initial = -1;  // outside
  int final = -1;    // outside: its last value
  int spare = -1;    // outside: iterations write this and `final` in turn
  int inside = -1;   // Lent: what the body reads
};

// Runs `body` once for each time step. Its outputs are the carried values, then one time step of each stacked one.
struct ScanItem {
  int body = -1;
  Dim length = 0;
  bool reverse = false;
  struct Carried {
    int inside = -1;       // Lent: what the body reads
    ScanPlace first;       // what the first time step reads
    ScanPlace later;       // what every later one reads; the time step before it writes it there
    ScanPlace last;        // its last value. Of rows: also of those that are not active
    bool is_kept = false;  // `later` is a stacked result, which every time step is given a part of: the first one, too
    bool by_rows() const { return last.by == ScanPlace::By::Row; }  // a time step reads and writes its rows, the others stay
  };
  std::vector<Carried> carried = {};
  struct Read {
    int inside = -1;  // Lent
    ScanPlace place;
  };
  std::vector<Read> reads = {};         // parts of sequences, and rows of what is captured
  std::vector<ScanPlace> stacked = {};  // where time steps write
  // Where the body is written in a number of rows that changes: from one time step to the next, or because blocks of rows run by themselves.
  struct Rows {
    Dim active = 0;      // the symbol that has this value in the body; a constant: there is none
    Dim count = 0;       // of the carried values
    Dim total = 0;       // of all time steps together
    int counts = -1;     // i64[length]: the rows of each time step; -1: all of them in every one
    bool apart = false;  // rows do not meet
  };
  Rows rows = {};
  bool has_rows() const { return !rows.active.is_constant(); }
};

// Runs `body` as long as `condition` gives true, at most `most` times (-1: no limit).
struct WhileItem {
  int condition = -1, body = -1;  // blocks; both read the carried values
  int64_t most = -1;
  std::vector<CarriedBuffer> carried = {};
  std::vector<int> asked = {};  // Lent: the carried values as `condition` reads them
};

using Item = std::variant<int, LibraryItem, BranchItem, ScanItem, WhileItem>;  // an int is a launch

struct Block {
  std::vector<Item> items;
  std::vector<graph::Check> checks;  // verified when the block is entered; those of the whole program are verified before it runs
  std::vector<BlockOutput> outputs;
  std::vector<IndexedOp> indexed_ops;
  std::vector<Dim> slots;  // bytes of each arena slot, by plan_memory
};

// A size that a launch leaves in memory: from there on it is known, in the regions that follow, too.
struct DataSize {
  Dim symbol;
  Dim bound;                         // what it cannot exceed
  int buffer = -1;                   // an i64 scalar
  int item = -1;                     // of the first block, that writes it
  std::vector<graph::Check> checks;  // that can be decided then
};

struct Program {
  std::string name;
  std::vector<ProgramBuffer> buffers;
  std::vector<Launch> launches;  // of all blocks, and the epilogues of library calls
  std::vector<LibraryCall> library_calls;
  std::vector<Block> blocks;  // the first is where a run begins
  std::vector<ProgramResult> results;
  std::vector<DataSize> data_sizes;  // in the order of their items
  std::vector<Dim> scan_sizes;       // symbols that scans set anew: numbers of rows
  // Updates that may be written over their arguments, by plan_updates: from item `first_update` of the first block on nothing fails, and nothing
  // reads an argument after the kernel that writes over it.
  std::vector<Update> updates;
  int first_update = -1;
  bool uses_random = false;
};

// Launches and library calls of all blocks; an epilogue is a part of its call.
size_t count_runs(const Program& program);

}  // namespace anyshape::lower
