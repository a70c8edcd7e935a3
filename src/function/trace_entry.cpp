// Cached traces: checks at entry and what was seen.
#include "function/trace_entry.h"

#include "base/thread_object.h"
#include "graph/check.h"
#include "graph/text.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

namespace anyshape::function_detail {
namespace {

std::unordered_map<const VariableState*, size_t> numbers_of(const std::vector<std::shared_ptr<VariableState>>& variables) {
  std::unordered_map<const VariableState*, size_t> numbers;
  for (size_t i = 0; i < variables.size(); ++i) numbers.try_emplace(variables[i].get(), i);
  return numbers;
}

}  // namespace

TraceEntry::TraceEntry(std::string key, Signature signature, Trace trace, std::shared_ptr<const void> layout, Compiled compiled,
                       TraceRecord record, std::shared_ptr<const TapedTrace> taped)
    : key_(std::move(key)),
      signature_(std::move(signature)),
      trace_(std::move(trace)),
      layout_(std::move(layout)),
      compiled_(std::move(compiled)),
      taped_(std::move(taped)),
      record_(std::move(record)),
      variables_(trace_.variables),
      assigned_(trace_.assigned),
      first_variable_(trace_.graph->inputs().size() - trace_.variables.size()),
      assigned_by_(trace_.variables.size()),
      check_sizes_(signature_.symbols()),
      least_(signature_.symbols().size()),
      most_(signature_.symbols().size()) {
  for (const graph::Check& check : trace_.graph->checks) {
    if (check.after == nullptr) checks_.push_back({check_sizes_.add(check.check.a), check_sizes_.add(check.check.b), &check});
  }
  const std::unordered_map<const VariableState*, size_t> assigned = numbers_of(trace_.assigned);
  for (size_t i = 0; i < trace_.variables.size(); ++i) {
    const auto found = assigned.find(trace_.variables[i].get());
    assigned_by_[i] = found == assigned.end() ? trace_.assigned.size() : found->second;
  }
  for (auto& each : least_) each.store(std::numeric_limits<int64_t>::max());
  for (auto& each : most_) each.store(std::numeric_limits<int64_t>::min());
}

const graph::Check* TraceEntry::first_failing(std::span<const int64_t> values, bool retrace) const {
  std::vector<int64_t>& table = ThreadObject<std::vector<int64_t>, EntryCheck>::get();
  table.resize(check_sizes_.slot_count());
  check_sizes_.run(values.data(), table.data());
  for (const EntryCheck& each : checks_) {
    if (each.check->retrace == retrace && !holds(each.check->check.relation, table[each.a], table[each.b])) return each.check;
  }
  return nullptr;
}

TraceEntry::Fit TraceEntry::fits(std::span<const Tensor> arguments, const std::string& key, std::vector<int64_t>& values) const {
  if (!is_of_current_backend() || key_ != key || !signature_.fits_kinds(arguments) || !signature_.fits_known(arguments)) return Fit::No;
  if (taped_ != nullptr && !taped_->is_followed_alike()) return Fit::No;
  signature_.bind(arguments, values);
  if (checks_.empty()) return Fit::Yes;
  try {
    if (first_failing(values, true) != nullptr) return Fit::No;
    return first_failing(values, false) != nullptr ? Fit::Error : Fit::Yes;
  } catch (const ShapeError&) {
    return Fit::No;  // a size behind a comparison has no value for these sizes; tracing again names the op where that is an error
  }
}

const graph::Check* TraceEntry::failed_retrace_check(std::span<const Tensor> arguments) const {
  std::vector<int64_t> values;
  signature_.bind(arguments, values);
  const Bindings bindings = signature_.bindings(values);
  for (const EntryCheck& each : checks_) {
    if (!each.check->retrace) continue;
    try {
      if (!each.check->check.holds(bindings)) return each.check;
    } catch (const ShapeError&) {
      continue;  // a size without a value stands behind another comparison, and that one is the reason
    }
  }
  return nullptr;
}

void TraceEntry::throw_failed_check(const std::string& function, std::span<const int64_t> values) const {
  const auto do_all_hold = [&](const Bindings& sizes) {
    return std::ranges::all_of(checks_, [&](const EntryCheck& each) { return each.check->retrace || each.check->check.holds(sizes); });
  };
  graph::throw_failed(*first_failing(values, false), signature_.bindings(values), function, do_all_hold);
}

void TraceEntry::count_call(std::span<const int64_t> values, int64_t tick) const {
  const auto relaxed = std::memory_order_relaxed;
  calls_.fetch_add(1, relaxed);
  last_tick_.store(tick, relaxed);
  for (size_t i = 0; i < values.size(); ++i) {
    // A failed exchange loads what another thread wrote, and the comparison is made again.
    for (int64_t seen = least_[i].load(relaxed); values[i] < seen && !least_[i].compare_exchange_weak(seen, values[i], relaxed);) {
    }
    for (int64_t seen = most_[i].load(relaxed); values[i] > seen && !most_[i].compare_exchange_weak(seen, values[i], relaxed);) {
    }
  }
}

TraceRecord TraceEntry::record() const {
  TraceRecord record = record_;
  record.calls = calls();
  if (taped_ != nullptr) record.reason += taped_->words();
  for (size_t i = 0; i < least_.size(); ++i) {
    const int64_t least = least_[i].load(std::memory_order_relaxed), most = most_[i].load(std::memory_order_relaxed);
    if (least <= most) record.sizes.push_back({to_string(signature_.symbols()[i]), least, most});
  }
  return record;
}

std::vector<lower::Update> updates_of(const Trace& trace) {
  const size_t first_variable = trace.graph->inputs().size() - trace.variables.size();
  const std::unordered_map<const VariableState*, size_t> variables = numbers_of(trace.variables);
  std::vector<lower::Update> updates;
  for (size_t i = 0; i < trace.assigned.size(); ++i) {
    const size_t variable = variables.at(trace.assigned[i].get());
    updates.push_back({static_cast<int>(trace.results + trace.kept + i), static_cast<int>(first_variable + variable)});
  }
  return updates;
}

TraceRecord record_of(const Trace& trace, const Signature& signature) {
  TraceRecord record;
  record.signature = signature.to_string();
  record.graph = graph::print(*trace.graph);
  for (size_t i = 0; i < trace.results; ++i) record.outputs.push_back(trace.graph->outputs[i]->spec);
  record.outputs = trace.ragged.specs(std::move(record.outputs));
  for (const graph::Check& check : trace.graph->checks) {
    if (check.op == specialize_place) {
      record.specialized.push_back(to_string(check.check));
    } else {
      const std::string after = check.after == nullptr ? "" : fmt::format(" (after {})", check.after->op->name);
      record.checks.push_back(fmt::format("{}: {}{}", check.op, to_string(check.check), after));
    }
  }
  for (const graph::Node* node : trace.graph->nodes()) {
    if (node->made) record.data_sizes.push_back(fmt::format("{} <= {}", to_string(node->made->symbol), to_string(node->made->bound)));
  }
  for (const Tensor& tensor : trace.captures) record.captured.push_back(describe(tensor));
  for (size_t i = 0; i < trace.variables.size(); ++i) {
    const VariableState& variable = *trace.variables[i];
    const std::string owner = trace.owners[i].empty() ? "" : trace.owners[i] + "/";
    record.captured.push_back(
        fmt::format("{}{}: {}", owner, variable.name.empty() ? "variable" : variable.name, describe(variable.value())));
  }
  return record;
}

}  // namespace anyshape::function_detail
