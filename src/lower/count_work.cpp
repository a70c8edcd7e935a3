// Walks the loops of kernels and adds up what their instructions do, times how often they run.
#include "lower/count_work.h"

#include "loop/routines.h"
#include "lower/loop_trips.h"
#include "shape/dim_node.h"
#include "shape/prove.h"
#include "shape/substitute.h"

#include <anyshape/error.h>

#include <algorithm>
#include <utility>

namespace anyshape::lower {
namespace {

using loop::Instruction;
using loop::Op;

int64_t flops_of(const Instruction& instruction) {
  if (!is_arithmetic(instruction)) return 0;
  return instruction.op == Op::Fma ? 2 : 1;
}

// Buffers that were in a cache already when a launch began, and count once.
struct Cached {
  std::vector<int> read = {}, written = {};
};

bool has(const std::vector<int>& buffers, int buffer) { return std::ranges::find(buffers, buffer) != buffers.end(); }

// What a kernel keeps for itself is no memory traffic.
bool is_scratch(const ProgramBuffer& buffer) { return buffer.kind == BufferKind::Temporary && buffer.first_item == buffer.last_item; }

Dim bytes_of(const ProgramBuffer& buffer) { return buffer.count * size_of(buffer.dtype); }

class LaunchCount {
 public:
  LaunchCount(const Program& program, const Launch& launch, Cached cached = {})
      : program_(program),
        launch_(launch),
        cached_(std::move(cached)),
        trips_(*launch.kernel, launch.dims),
        traffic_(launch.kernel->buffers.size()) {}

  Work run() {
    const Terms terms = walk(launch_.kernel->body, Quotient(1));
    work_.flops = sum(terms);
    work_.is_bound = work_.is_bound || trips_.is_bound();
    for (size_t i = 0; i < traffic_.size(); ++i) add_traffic(launch_.buffers[i], traffic_[i]);
    return work_;
  }

 private:
  struct Term {
    int64_t flops;
    Quotient runs;
  };
  using Terms = std::vector<Term>;
  using Runs = std::optional<Quotient>;  // none: nobody knows

  struct Traffic {
    bool is_read = false, is_written = false;
    std::vector<Runs> gathered = {};  // loads at offsets that were read from memory
    bool is_walked = false;           // there are other loads
  };

  Terms walk(const loop::Block& block, const Runs& runs) {
    Terms terms;
    int64_t own = 0;
    for (const Instruction& instruction : block) {
      own += flops_of(instruction);
      if (instruction.op == Op::Load || instruction.op == Op::Store) touch(instruction, runs);
      if (instruction.op == Op::Call) call(instruction, runs, terms);
      if (instruction.op == Op::For || instruction.op == Op::Reduce) append(terms, walk_loop(instruction, runs));
      if (instruction.op == Op::If) append(terms, walk_branches(instruction, runs));
    }
    add(terms, own, runs);
    return terms;
  }

  Terms walk_loop(const Instruction& instruction, const Runs& runs) {
    const Runs trips = trips_.of(instruction);
    const Runs inside = runs && trips ? Runs(*runs * *trips) : std::nullopt;
    Terms terms = walk(instruction.body, inside);
    if (instruction.op == Op::Reduce) {
      const auto combined = std::ranges::count_if(
          instruction.results, [&](loop::Value value) { return is_floating(launch_.kernel->types[static_cast<size_t>(value.id)]); });
      add(terms, combined, inside);
    }
    return terms;
  }

  // The branch that does more; versions of one loop do the same.
  Terms walk_branches(const Instruction& instruction, const Runs& runs) {
    Terms then = walk(instruction.body, runs), otherwise = walk(instruction.otherwise, runs);
    const Dim a = sum(then), b = sum(otherwise);
    if (a.same_as(b)) return then;
    work_.is_bound = true;
    return proves_less_equal(a, b).value_or(false) ? otherwise : then;
  }

  void call(const Instruction& instruction, const Runs& runs, Terms& terms) {
    for (size_t i = 0; i < instruction.buffers.size(); ++i) {
      Traffic& traffic = traffic_[static_cast<size_t>(instruction.buffers[i])];
      const loop::Access access = launch_.kernel->buffers[static_cast<size_t>(instruction.buffers[i])].access;
      (access == loop::Access::In ? traffic.is_read : traffic.is_written) = true;
      traffic.is_walked = true;
    }
    const loop::Routine* const routine = loop::find_routine(instruction.name);
    if (routine == nullptr || routine->flops.per_index == 0) return;
    const size_t first = instruction.buffers.size() + routine->flops.first;  // offsets come before integers
    Runs total = runs;
    for (size_t i = first; i < first + 3; ++i) {
      const Runs size = trips_.mean(instruction.args[i]);
      total = total && size ? Runs(*total * *size) : std::nullopt;
    }
    add(terms, routine->flops.per_index, total);
  }

  void touch(const Instruction& instruction, const Runs& runs) {
    Traffic& traffic = traffic_[static_cast<size_t>(instruction.buffer)];
    if (instruction.op == Op::Store) {
      traffic.is_written = true;
    } else {
      traffic.is_read = true;
      if (trips_.is_from_memory(instruction.args[0]))
        traffic.gathered.push_back(runs);
      else
        traffic.is_walked = true;
    }
  }

  void add(Terms& terms, int64_t flops, const Runs& runs) {
    if (flops == 0) return;
    if (runs)
      terms.push_back({flops, *runs});
    else
      work_.depends_on_data = true;
  }

  static void append(Terms& terms, Terms more) { terms.insert(terms.end(), more.begin(), more.end()); }

  Dim sum(const Terms& terms) {
    Dim total = 0;
    for (const Term& term : terms) {
      const std::optional<Dim> runs = term.runs.whole();
      if (!runs) work_.depends_on_data = true;
      if (runs && !trips_.is_overhead(term.runs)) total = total + *runs * term.flops;
    }
    return total;
  }

  void add_traffic(int number, const Traffic& traffic) {
    const ProgramBuffer& buffer = program_.buffers[static_cast<size_t>(number)];
    if (is_scratch(buffer)) return;
    const bool is_own = traffic.is_written || has(cached_.read, number) || has(cached_.written, number);  // read again from a cache
    if (traffic.is_read && !is_own) work_.bytes_read = work_.bytes_read + elements_read(buffer, traffic) * size_of(buffer.dtype);
    if (traffic.is_written && !has(cached_.written, number)) work_.bytes_written = work_.bytes_written + bytes_of(buffer);
  }

  // Of a table that is looked up in, no more than is asked for.
  static Dim elements_read(const ProgramBuffer& buffer, const Traffic& traffic) {
    if (traffic.is_walked) return buffer.count;
    Dim asked = 0;
    for (const Runs& runs : traffic.gathered) {
      const std::optional<Dim> times = runs ? runs->whole() : std::nullopt;
      if (!times) return buffer.count;
      asked = asked + *times;
    }
    return asked.same_as(buffer.count) ? asked : min(asked, buffer.count);
  }

  const Program& program_;
  const Launch& launch_;
  const Cached cached_;
  LoopTrips trips_;
  std::vector<Traffic> traffic_;  // per buffer of the kernel
  Work work_;
};

// A body that says how many rows it has runs on all rows of all time steps together; what does not depend on them, once a time step.
Dim over_all_time_steps(const Dim& once, const ScanItem& scan) {
  if (!scan.has_rows()) return once * scan.length;
  const uint64_t active = as_symbol(scan.rows.active)->id;
  const Dim fixed = substitute(once, {{active, 0}}), each = substitute(once, {{active, 1}}) - fixed;
  return each * scan.rows.total + fixed * scan.length;
}

// What follows the call finds what that has read and written in a cache.
Work count_library_call(const Program& program, const LibraryCall& call) {
  Work work{.flops = flops_of(call.work)};
  Cached cached;
  const auto each_once = [&](const std::vector<int>& buffers, std::vector<int>& seen, Dim& bytes) {
    for (const int number : buffers) {
      const ProgramBuffer& buffer = program.buffers[static_cast<size_t>(number)];
      if (!has(seen, number) && !is_scratch(buffer)) bytes = bytes + bytes_of(buffer);
      seen.push_back(number);
    }
  };
  each_once(call.inputs, cached.read, work.bytes_read);
  each_once(call.outputs, cached.written, work.bytes_written);
  if (call.epilogue >= 0) work += LaunchCount(program, program.launches[static_cast<size_t>(call.epilogue)], std::move(cached)).run();
  return work;
}

struct CountItem {
  const Program& program;

  Work operator()(int launch) const { return LaunchCount(program, program.launches[static_cast<size_t>(launch)]).run(); }
  Work operator()(const LibraryItem& item) const {
    return count_library_call(program, program.library_calls[static_cast<size_t>(item.call)]);
  }
  Work operator()(const BranchItem& item) const {
    Work then = count_block(program, item.then), otherwise = count_block(program, item.otherwise);
    Work& more = proves_less_equal(then.flops, otherwise.flops).value_or(false) ? otherwise : then;
    more.is_bound = true;
    return more;
  }
  Work operator()(const ScanItem& item) const {
    Work work = count_block(program, item.body);
    work.flops = over_all_time_steps(work.flops, item);
    work.bytes_read = over_all_time_steps(work.bytes_read, item);
    work.bytes_written = over_all_time_steps(work.bytes_written, item);
    return work;
  }
  Work operator()(const WhileItem& item) const {
    Work work = count_block(program, item.condition);
    work += count_block(program, item.body);
    if (item.most < 0) {
      work.depends_on_data = true;
      return work;
    }
    work.flops = work.flops * item.most;
    work.bytes_read = work.bytes_read * item.most;
    work.bytes_written = work.bytes_written * item.most;
    work.is_bound = true;
    return work;
  }
};

}  // namespace

Work& Work::operator+=(const Work& other) {
  flops = flops + other.flops;
  bytes_read = bytes_read + other.bytes_read;
  bytes_written = bytes_written + other.bytes_written;
  is_bound = is_bound || other.is_bound;
  depends_on_data = depends_on_data || other.depends_on_data;
  return *this;
}

bool is_product(const Instruction& instruction) {
  const loop::Routine* const routine = instruction.op == Op::Call ? loop::find_routine(instruction.name) : nullptr;
  return routine != nullptr && routine->flops.per_index > 0;
}

bool is_arithmetic(const Instruction& instruction) {
  return is_floating(instruction.type) && instruction.op >= Op::Add && instruction.op <= Op::Round;
}

Work count_item(const Program& program, const Item& item) { return std::visit(CountItem{program}, item); }

Work count_block(const Program& program, int block) {
  Work total;
  for (const Item& item : program.blocks[static_cast<size_t>(block)].items) total += count_item(program, item);
  return total;
}

}  // namespace anyshape::lower
