// Finding, keeping and dropping traces.
#include "function/trace_cache.h"

#include <algorithm>
#include <mutex>

namespace anyshape::function_detail {
namespace {

constexpr size_t evicted_remembered = 64;

}  // namespace

TraceCache::Found TraceCache::find(std::span<const Tensor> arguments, const std::string& key, std::vector<int64_t>& values) const {
  return entries_.read([&](const std::vector<Entry>& entries) -> Found {
    for (const Entry& entry : entries) {
      const TraceEntry::Fit fit = entry->fits(arguments, key, values);
      if (fit != TraceEntry::Fit::No) return {entry, fit};
    }
    return {};
  });
}

int64_t TraceCache::add(const std::shared_ptr<TraceEntry>& entry) {
  std::vector<std::unique_ptr<std::vector<Entry>>> replaced;
  std::vector<Entry> dropped;  // destroyed after the lock is gone: giving code back takes its time
  const std::scoped_lock lock(mutex_);
  std::vector<Entry> held = entries();
  entry->set_number(totals_.traces++);
  const int interpreted = entry->executable().code().interpreted_launches();
  totals_.compiles += interpreted > 0 ? 0 : 1;
  totals_.interpreted_groups += interpreted;
  totals_.trace_ms += entry->made().trace_ms;
  totals_.compile_ms += entry->made().compile_ms;
  totals_.code_bytes += entry->made().code_bytes;
  held.push_back(entry);
  dropped = take_surplus(held);
  replaced = entries_.replace(std::move(held));
  return totals_.traces;
}

std::vector<Entry> TraceCache::take_surplus(std::vector<Entry>& held) {
  std::vector<Entry> surplus;
  while (held.size() > 1 &&
         (static_cast<int64_t>(held.size()) > max_traces_ || totals_.code_bytes + late_->code_bytes.load() > max_code_bytes_)) {
    const auto oldest = std::ranges::min_element(held.begin(), held.end() - 1, {}, [](const Entry& each) { return each->last_tick(); });
    const TraceEntry& entry = **oldest;
    totals_.code_bytes -= entry.made().code_bytes;
    ++totals_.evictions;
    const bool decides = std::ranges::any_of(entry.trace().graph->checks, &graph::Check::retrace);
    evicted_.push_back({entry.number(), entry.calls(), entry.key(), entry.signature(), decides});
    if (evicted_.size() > evicted_remembered) evicted_.pop_front();
    surplus.push_back(*oldest);
    held.erase(oldest);
  }
  return surplus;
}

void TraceCache::clear() {
  std::vector<std::unique_ptr<std::vector<Entry>>> dropped;
  const std::scoped_lock lock(mutex_);
  dropped = entries_.replace({});
  evicted_.clear();
  totals_ = {};
  late_ = std::make_shared<LateCompiles>();
}

std::shared_ptr<LateCompiles> TraceCache::late_compiles() const {
  const std::scoped_lock lock(mutex_);
  return late_;
}

std::vector<Entry> TraceCache::entries() const {
  const NoFork whole;
  return entries_.read([](const std::vector<Entry>& entries) { return entries; });
}

std::vector<EvictedTrace> TraceCache::evicted() const {
  const std::scoped_lock lock(mutex_);
  return {evicted_.begin(), evicted_.end()};
}

FunctionStats TraceCache::totals() const {
  const std::scoped_lock lock(mutex_);
  FunctionStats totals = totals_;
  totals.compiles += late_->compiles.load();
  totals.code_bytes += late_->code_bytes.load();
  totals.trace_ms += late_->trace_ms.load();
  totals.compile_ms += late_->compile_ms.load();
  return totals;
}

}  // namespace anyshape::function_detail
