// The traces of one function: found by key and sizes, limited in number and in bytes of code, counted.
#pragma once
#include "base/fork_mutex.h"
#include "function/published.h"
#include "function/trace_entry.h"

#include <deque>
#include <memory>
#include <mutex>

namespace anyshape::function_detail {

using Entry = std::shared_ptr<const TraceEntry>;

// What stays of a trace that was dropped: enough to say so when a call needs it again.
struct EvictedTrace {
  int64_t number;
  int64_t calls;
  std::string key;
  Signature signature;
  bool decides_by_size;  // it had comparisons or specialised sizes, so kind alone does not tell what it fitted
};

class TraceCache {
 public:
  TraceCache(int64_t max_traces, int64_t max_code_bytes) : max_traces_(max_traces), max_code_bytes_(max_code_bytes) {}

  struct Found {
    Entry entry;  // null where none fits
    TraceEntry::Fit fit = TraceEntry::Fit::No;
  };
  Found find(std::span<const Tensor> arguments, const std::string& key, std::vector<int64_t>& values) const;

  // Takes a trace and drops those not called for longest that are too many. A call that runs one of them holds it until it ends; its code
  // is freed then. Gives the number of traces made so far.
  int64_t add(const std::shared_ptr<TraceEntry>& entry);
  void clear();

  std::vector<Entry> entries() const;
  std::vector<EvictedTrace> evicted() const;            // the last few
  std::shared_ptr<LateCompiles> late_compiles() const;  // for traces that are made now
  FunctionStats totals() const;                         // traces, compiles, evictions, interpreted groups, milliseconds, bytes

 private:
  std::vector<Entry> take_surplus(std::vector<Entry>& held);  // under the lock

  int64_t max_traces_, max_code_bytes_;
  Published<std::vector<Entry>> entries_;  // found without a lock
  mutable ForkMutex mutex_;                // of what changes them, and of what is counted
  std::deque<EvictedTrace> evicted_;
  FunctionStats totals_;  // of all traces ever made, bytes of those that are held
  std::shared_ptr<LateCompiles> late_ = std::make_shared<LateCompiles>();
};

}  // namespace anyshape::function_detail
