// A call: find a trace that fits, or explain why there is none, trace, compile; then run and commit.
#include "base/log.h"
#include "function/explain.h"
#include "function/random_state.h"
#include "function/trace_entry.h"
#include "graph/text.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/function.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <shared_mutex>

namespace anyshape {

using function_detail::Signature;
using function_detail::TraceEntry;
using function_detail::Tracer;
using Entry = std::shared_ptr<const TraceEntry>;

struct FunctionCore::State {
  FunctionOptions options;
  std::optional<Signature> declared;
  mutable std::shared_mutex mutex;
  std::vector<Entry> entries;
  struct Counters {
    std::atomic<int64_t> calls{0}, hits{0}, casts{0}, copies{0}, failed_checks{0};
  } counters;

  std::mutex flight_mutex;
  std::condition_variable flight_ended;
  std::set<std::string> flights;  // the kinds of calls that are being traced

  void accept_arguments(std::vector<Tensor>& tensors, const FunctionCall& call);
  Entry find(std::span<const Tensor> tensors, const std::string& key, std::vector<int64_t>& values);
  Entry make(std::span<const Tensor> tensors, const FunctionCall& call, std::vector<int64_t>& values);
  std::vector<Tensor> run(const TraceEntry& entry, std::vector<Tensor> tensors, std::span<const int64_t> values);
};

namespace {

// What decides which trace a call needs, sizes apart.
std::string kind_of(std::span<const Tensor> tensors, const std::string& key) {
  std::string kind;
  for (const Tensor& tensor : tensors) kind += {static_cast<char>(tensor.dtype()), static_cast<char>(tensor.rank())};
  return kind + key;
}

}  // namespace

// One thread at a time traces calls of one kind; the others wait here and then look again. The user's code runs meanwhile, so no lock is
// held: what ends a flight is its destructor, also when tracing throws, and then the next one tries itself.
class FunctionCore::Flight {
 public:
  Flight(State& state, std::string kind) : state_(state), kind_(std::move(kind)) {
    std::unique_lock lock(state_.flight_mutex);
    state_.flight_ended.wait(lock, [&] { return state_.flights.insert(kind_).second; });
  }
  ~Flight() {
    {
      std::scoped_lock lock(state_.flight_mutex);
      state_.flights.erase(kind_);
    }
    state_.flight_ended.notify_all();
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

 private:
  State& state_;
  std::string kind_;
};

FunctionCore::FunctionCore(FunctionOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
  const bool needs_signature = state_->options.dtypes == DtypePolicy::Cast || state_->options.dtypes == DtypePolicy::Reject;
  if (!state_->options.signature.empty()) {
    state_->declared = Signature::declared(state_->options.signature);
  } else if (needs_signature) {
    throw ArgumentError(
        fmt::format("function \"{}\": DtypePolicy::Cast and Reject need a signature, which says the dtypes; expected .signature = "
                    "{{as::spec(...)}}.",
                    state_->options.name));
  }
}

FunctionCore::~FunctionCore() = default;

FunctionResults FunctionCore::call(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call) {
  // Part of the trace in progress, or followed by a tape, which has to see every op.
  if (Tracer::is_active() || current_interpreter().records()) return call.run(tensors);
  State& state = *state_;
  state.accept_arguments(tensors, call);
  thread_local std::vector<int64_t> values;
  Entry entry = state.find(tensors, key, values);
  bool hit = entry != nullptr;
  if (!hit) {
    // Where a second trace is forbidden, every first call waits for the first of them.
    const Flight flight(state, state.options.retrace == Retrace::Forbid ? std::string() : kind_of(tensors, key));
    entry = state.find(tensors, key, values);
    hit = entry != nullptr;
    if (!hit) entry = state.make(tensors, call, values);
  }
  state.counters.calls.fetch_add(1, std::memory_order_relaxed);
  if (hit) state.counters.hits.fetch_add(1, std::memory_order_relaxed);
  entry->count_call(values);
  return {state.run(*entry, std::move(tensors), values), entry->layout()};
}

void FunctionCore::State::accept_arguments(std::vector<Tensor>& tensors, const FunctionCall& call) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) {
      throw ArgumentError(fmt::format("function \"{}\": {} is an empty tensor handle; expected a tensor with a value.", options.name,
                                      call.describe().tensors[i]));
    }
    if (tensors[i].impl()->traced != nullptr) {
      throw TraceError(
          fmt::format("function \"{}\": {} is a tensor that left its trace; expected a value. Return it from the traced function.",
                      options.name, call.describe().tensors[i]));
    }
  }
  if (!declared) return;
  const bool casts = options.dtypes == DtypePolicy::Cast;
  const bool rejects = options.dtypes == DtypePolicy::Auto || options.dtypes == DtypePolicy::Reject;
  for (size_t i = 0; i < std::min(tensors.size(), declared->specs().size()); ++i) {
    const Dtype wanted = declared->specs()[i].dtype;
    if (tensors[i].dtype() == wanted) continue;
    if (rejects) {
      throw SignatureError(
          fmt::format("function \"{}\": {} has another dtype: it is {}; expected {}. Cast it with as::cast(x, as::{}), or set .dtypes = "
                      "as::DtypePolicy::Cast.",
                      options.name, declared->argument_name(i, call.describe().tensors[i]), describe(tensors[i]),
                      to_string(declared->specs()[i]), to_string(wanted)));
    }
    if (!casts) continue;
    tensors[i] = cast(tensors[i], wanted);
    counters.casts.fetch_add(1, std::memory_order_relaxed);
  }
  declared->require(tensors, call, options.name);
}

Entry FunctionCore::State::find(std::span<const Tensor> tensors, const std::string& key, std::vector<int64_t>& values) {
  std::shared_lock lock(mutex);
  for (const Entry& entry : entries) {
    if (entry->key() != key || !entry->signature().fits_kinds(tensors)) continue;
    switch (entry->fits(tensors, values)) {
      case TraceEntry::Fit::Yes: return entry;
      case TraceEntry::Fit::No: continue;
      case TraceEntry::Fit::Error:
        counters.failed_checks.fetch_add(1, std::memory_order_relaxed);
        entry->throw_failed_check(options.name, values);
    }
  }
  return nullptr;
}

Entry FunctionCore::State::make(std::span<const Tensor> tensors, const FunctionCall& call, std::vector<int64_t>& values) {
  std::vector<Entry> earlier;
  {
    std::shared_lock lock(mutex);
    earlier = entries;
  }
  TraceRecord record;
  record.reason = function_detail::explain(earlier, tensors, call.describe());
  if (!earlier.empty() && options.retrace == Retrace::Forbid) {
    throw TraceError(
        fmt::format("function \"{}\": this call needs a new trace, which Retrace::Forbid rules out: {}", options.name, record.reason));
  }

  // With a declaration another dtype (where that is allowed) keeps the declared sizes.
  std::vector<TensorSpec> specs = options.signature;
  for (size_t i = 0; i < specs.size(); ++i) specs[i].dtype = tensors[i].dtype();
  Signature signature = declared ? Signature::declared(specs) : Signature::open(tensors);
  signature.bind(tensors, values);
  const auto start = std::chrono::steady_clock::now();
  std::shared_ptr<const void> layout;
  function_detail::Trace trace =
      Tracer(options.name, signature.specs(), signature.bindings(values)).run([&](std::span<const Tensor> traced) {
        FunctionResults results = call.run(traced);
        layout = std::move(results.layout);
        return std::move(results.tensors);
      });
  record.trace_ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  record.signature = signature.to_string();
  record.values = call.describe().parts;
  record.graph = graph::print(*trace.graph);
  for (size_t i = 0; i < trace.results; ++i) record.outputs.push_back(trace.graph->outputs[i]->spec);
  for (const graph::Check& check : trace.graph->checks) record.checks.push_back(fmt::format("{}: {}", check.op, to_string(check.check)));

  for (const Tensor& tensor : trace.captures) record.captured.push_back(describe(tensor));
  for (const auto& variable : trace.variables) {
    record.captured.push_back((variable->name.empty() ? "variable" : variable->name) + ": " + describe(variable->value()));
  }

  function_detail::Compiled compiled = function_detail::compile(*trace.graph, signature.symbols());
  record.compile_ms = compiled.milliseconds;
  record.code_bytes = compiled.code_bytes;
  // The key of now: an object that was built while tracing is found by what it has become.
  auto entry = std::make_shared<const TraceEntry>(call.key(), std::move(signature), std::move(trace), std::move(layout),
                                                  std::move(compiled), std::move(record));
  size_t number = 0;
  {
    std::unique_lock lock(mutex);
    entries.push_back(entry);
    number = entries.size();
  }
  if (number >= 3 && options.retrace == Retrace::Warn) {
    log_warning(fmt::format("function \"{}\" was traced {} times; the last because: {}", options.name, number, entry->record().reason));
  }
  return entry;
}

std::vector<Tensor> FunctionCore::State::run(const TraceEntry& entry, std::vector<Tensor> tensors, std::span<const int64_t> values) {
  for (Tensor& tensor : tensors) {
    if (is_contiguous(*tensor.impl())) continue;
    tensor = contiguous(tensor);
    counters.copies.fetch_add(1, std::memory_order_relaxed);
  }
  const function_detail::Trace& trace = entry.trace();
  tensors.insert(tensors.end(), trace.captures.begin(), trace.captures.end());
  for (const Tensor& value : read_together(trace.variables)) tensors.push_back(contiguous(value));
  const runtime::RandomState random = entry.executable().uses_random() ? function_detail::next_random_state() : runtime::RandomState{};
  std::vector<Tensor> results = entry.executable().run(tensors, values, random);
  assign_together(trace.assigned, std::span(results).subspan(trace.results));
  results.resize(trace.results);
  return results;
}

FunctionStats FunctionCore::stats() const {
  std::shared_lock lock(state_->mutex);
  FunctionStats stats;
  for (const Entry& entry : state_->entries) {
    ++stats.traces;
    const bool interpreted = entry->executable().interpreted_groups() > 0;
    stats.compiles += interpreted ? 0 : 1;
    stats.interpreted_groups += entry->executable().interpreted_groups();
    stats.trace_ms += entry->record().trace_ms;
    stats.compile_ms += entry->record().compile_ms;
    stats.code_bytes += entry->record().code_bytes;
  }
  stats.calls = state_->counters.calls.load();
  stats.hits = state_->counters.hits.load();
  stats.casts = state_->counters.casts.load();
  stats.copies = state_->counters.copies.load();
  stats.failed_checks = state_->counters.failed_checks.load();
  return stats;
}

std::vector<TraceRecord> FunctionCore::traces() const {
  std::shared_lock lock(state_->mutex);
  std::vector<TraceRecord> records;
  for (const Entry& entry : state_->entries) {
    records.push_back(entry->record());
    records.back().calls = entry->calls();
  }
  return records;
}

std::string FunctionCore::report() const {
  std::vector<Entry> entries;
  {
    std::shared_lock lock(state_->mutex);
    entries = state_->entries;
  }
  return function_detail::report(state_->options.name, stats(), entries);
}

}  // namespace anyshape
