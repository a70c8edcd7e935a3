// A call: find a trace that fits, or explain why there is none, trace, compile; then run and commit.
#include "base/log.h"
#include "base/no_fork.h"
#include "base/switches.h"
#include "base/thread_object.h"
#include "function/activation.h"
#include "function/argument_notes.h"
#include "function/commit.h"
#include "function/explain_retrace.h"
#include "function/frozen.h"
#include "function/function_state.h"
#include "function/known_sizes.h"
#include "function/registry.h"
#include "graph/trace_scope.h"
#include "graph/variable_undo.h"
#include "tensor/make_impl.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>

namespace anyshape {

using function_detail::Activation;
using function_detail::Compiled;
using function_detail::Counters;
using function_detail::Entry;
using function_detail::Explanation;
using function_detail::Flight;
using function_detail::Signature;
using function_detail::TraceCache;
using function_detail::TraceEntry;
using function_detail::Tracer;

namespace {

const Switch checks_frozen("check_frozen", "a function's first trace is made twice, to find host values that are constants from then on");

// Where nothing is said, a function's first trace is: what its callable takes from the host it takes in every trace alike.
bool looks_for_frozen(const FunctionOptions& options, bool is_first) {
  return options.check_frozen.value_or(is_first && !checks_frozen.is_off());
}

// A tensor without values: what a cast would give, as far as finding a trace is concerned.
Tensor outline(const Tensor& argument, Dtype dtype) {
  if (const RaggedTensor* ragged = as_ragged(argument)) return make_ragged(outline(ragged->values, dtype), ragged->partition);
  auto impl = make_impl();
  impl->dtype = dtype;
  impl->rank = argument.impl()->rank;
  impl->sizes = argument.impl()->sizes;
  return Tensor(std::move(impl));
}

}  // namespace

FunctionCore::State::State(FunctionOptions given) : options(std::move(given)) {
  const bool needs_signature = options.dtypes == DtypePolicy::Cast || options.dtypes == DtypePolicy::Reject;
  if (!options.signature.empty()) {
    declared = Signature::declared(options.signature);
  } else if (needs_signature) {
    throw ArgumentError(
        fmt::format("function \"{}\": DtypePolicy::Cast and Reject need a signature, which says the dtypes; expected .signature = "
                    "{{as::spec(...)}}.",
                    options.name));
  }
  if (options.max_traces < 1 || options.max_code_bytes < 0) {
    throw ArgumentError(
        fmt::format("function \"{}\": max_traces is {}, max_code_bytes is {}; expected at least one trace and no negative size.",
                    options.name, options.max_traces, options.max_code_bytes));
  }
}

FunctionCore::FunctionCore(FunctionOptions options)
    : state_(std::make_unique<State>(std::move(options))), registration_(std::make_unique<Registration>(*this)) {}

FunctionCore::~FunctionCore() = default;

FunctionResults FunctionCore::call(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call) {
  State& state = *state_;
  Activation::require_none(&state, state.options.name);
  if (Tracer::is_active()) return state.run_op_by_op(tensors, call);  // part of the trace in progress
  if (const int64_t casts = state.accept_arguments(tensors, call, cast); casts > 0)
    state.counters.casts.fetch_add(casts, std::memory_order_relaxed);
  const auto serve = current_interpreter().records() ? &State::serve_under_tapes : &State::serve;
  if (!function_detail::has_notes(tensors)) return (state.*serve)(std::move(tensors), key, call);
  const function_detail::CallWithNotes with_notes(call, tensors);
  return (state.*serve)(with_notes.arguments(), with_notes.key_of(key), with_notes);
}

FunctionResults FunctionCore::State::run_op_by_op(std::span<const Tensor> tensors, const FunctionCall& call) const {
  const Activation activation(this);
  return run_scope([&] { return call.run(tensors); });
}

FunctionResults FunctionCore::State::serve(std::vector<Tensor> tensors, const std::string& key, const FunctionCall& call) {
  std::vector<int64_t>& values = ThreadObject<std::vector<int64_t>, State>::get();
  Entry found;  // ends outside, as it may be the last who holds a trace that was dropped, with values of the user's in it
  {
    const NoFork whole;
    found = find(tensors, key, values);
    if (found) return run_counted(*found, true, std::move(tensors), values);
  }
  const auto [entry, hit] = find_or_make(tensors, key, call, values, false);
  const NoFork whole;
  return run_counted(*entry, hit, std::move(tensors), values);
}

FunctionResults FunctionCore::State::run_counted(const TraceEntry& entry, bool hit, std::vector<Tensor>&& tensors,
                                                 std::span<const int64_t> values) {
  const int64_t tick = counters.calls.fetch_add(1, std::memory_order_relaxed);
  if (hit) counters.hits.fetch_add(1, std::memory_order_relaxed);
  entry.count_call(values, tick);
  const runtime::RandomState random = entry.executable().uses_random() ? function_detail::next_random_state() : runtime::RandomState{};
  return {run(entry, std::move(tensors), values, random), entry.layout()};
}

RetraceForecast FunctionCore::would_retrace(std::vector<Tensor> given, const std::string& given_key, const FunctionCall& call) const {
  if (Tracer::is_active()) return {};  // inlined: it needs no trace of its own
  const bool is_taped = current_interpreter().records();
  const function_detail::CallWithNotes with_notes(call, given);
  std::string key = with_notes.key_of(given_key);
  std::vector<Tensor> tensors = with_notes.arguments();
  try {
    state_->accept_arguments(given, call, outline);
    std::ranges::move(given, tensors.begin());
    std::vector<int64_t> values;
    if (is_taped) {
      if (state_->find_unfollowed(tensors, key, values)) return {};
      key = function_detail::key_under_tapes(key, tensors);
      if (state_->is_op_by_op(tensors, key)) return {};
    }
    const TraceCache::Found found = [&] {
      const NoFork whole;
      return state_->cache.find(tensors, key, values);
    }();
    if (found.fit == TraceEntry::Fit::Yes) return {};
    if (found.fit == TraceEntry::Fit::Error) found.entry->throw_failed_check(state_->options.name, values);
  } catch (const Error& error) {
    return {false, fmt::format("the call would throw: {}", error.what())};
  }
  const Explanation why = function_detail::explain_retrace(state_->options, state_->cache, tensors, key, with_notes.describe(), is_taped);
  return {true, why.advice.empty() ? why.reason : fmt::format("{}. {}", why.reason, why.advice)};
}

int64_t FunctionCore::State::accept_arguments(std::vector<Tensor>& tensors, const FunctionCall& call, CastArgument cast_to) const {
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined()) {
      throw ArgumentError(fmt::format("function \"{}\": {} is an empty tensor handle; expected a tensor with a value.", options.name,
                                      call.describe().tensors[i]));
    }
    if (is_traced(tensors[i])) {
      throw TraceError(
          fmt::format("function \"{}\": {} is a tensor that left its trace; expected a value. Return it from the traced function.",
                      options.name, call.describe().tensors[i]));
    }
  }
  if (!declared) return 0;
  int64_t casts = 0;
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
    if (options.dtypes != DtypePolicy::Cast) continue;
    tensors[i] = cast_to(tensors[i], wanted);
    ++casts;
  }
  declared->require(tensors, call, options.name);
  return casts;
}

Entry FunctionCore::State::find(std::span<const Tensor> tensors, const std::string& key, std::vector<int64_t>& values) const {
  TraceCache::Found found = cache.find(tensors, key, values);
  if (found.fit == TraceEntry::Fit::Error) {
    counters.failed_checks.fetch_add(1, std::memory_order_relaxed);
    found.entry->throw_failed_check(options.name, values);
  }
  return std::move(found.entry);
}

std::pair<Entry, bool> FunctionCore::State::find_or_make(std::span<const Tensor> tensors, const std::string& key, const FunctionCall& call,
                                                         std::vector<int64_t>& values, bool is_taped) {
  const auto found_again = [&] {
    const NoFork whole;
    return find(tensors, key, values);
  };
  const Flight flight(flights, flight_kind(tensors, key));
  if (Entry entry = found_again()) return {std::move(entry), true};
  const Activation activation(this);
  Entry made = make(tensors, key, call, is_taped);
  if (made != nullptr)
    made->signature().bind(tensors, values);  // after all code of the user's that could have called functions on this thread
  return {std::move(made), false};
}

// What decides which trace a call needs. Where a second trace is forbidden, every first call waits for the first of them.
std::string FunctionCore::State::flight_kind(std::span<const Tensor> tensors, const std::string& key) const {
  if (options.retrace == Retrace::Forbid) return {};
  std::string kind;
  for (const Tensor& tensor : tensors) {
    kind += {static_cast<char>(tensor.dtype()), static_cast<char>(tensor.rank()), tensor.is_ragged() ? 'r' : 'd'};
    if (options.shapes != Shapes::Exact) continue;
    kind += to_string(tensor.shape());
  }
  return kind + key;
}

Signature FunctionCore::State::signature_of(std::span<const Tensor> tensors, const std::string& key,
                                            std::span<const std::string> places) const {
  // With a declaration another dtype (where that is allowed) keeps the declared sizes.
  std::vector<TensorSpec> specs = options.signature;
  for (size_t i = 0; i < specs.size(); ++i) specs[i].dtype = tensors[i].dtype();
  for (size_t i = specs.size(); declared && i < tensors.size(); ++i) {  // notes on arguments: of any size
    specs.push_back({tensors[i].dtype(), Shape(std::vector<Dim>(static_cast<size_t>(tensors[i].rank()), dynamic)), {}});
  }
  Signature signature = declared ? Signature::declared(specs) : Signature::open(tensors, places);
  if (options.shapes == Shapes::Symbolic) return signature;
  std::vector<int64_t> values;
  signature.bind(tensors, values);
  return signature.with_known(function_detail::known_sizes(options.shapes, values, cache, tensors, key));
}

Entry FunctionCore::State::make(std::span<const Tensor> tensors, const std::string& key, const FunctionCall& call, bool is_taped) {
  if (saved != nullptr && !is_taped) return make_saved(tensors, key, call);
  const auto start = std::chrono::steady_clock::now();
  const detail::structure::Description description = call.describe();
  Explanation why = function_detail::explain_retrace(options, cache, tensors, key, description, is_taped);
  if (why.cause != Cause::FirstCall && options.retrace == Retrace::Forbid) {
    throw TraceError(fmt::format("function \"{}\": this call needs a new trace, which Retrace::Forbid rules out: {}. {}", options.name,
                                 why.reason, why.advice));
  }
  const bool is_first = why.cause == Cause::FirstCall && cache.totals().traces == 0;
  Signature signature = signature_of(tensors, key, description.tensors);
  std::vector<int64_t> values;
  signature.bind(tensors, values);
  std::shared_ptr<function_detail::TapedTrace> taped;
  const auto trace_once = [&](std::shared_ptr<const void>& layout, bool may_create) {
    function_detail::RaggedResults ragged;
    function_detail::NotesOfResults notes;
    std::vector<Tensor> traced;
    const auto body = [&](std::span<const Tensor> inputs) {
      if (traced.empty()) traced = signature.from_dense(inputs);  // the same handles, should the callable be run again
      FunctionResults results = call.run(traced);
      layout = results.layout;
      if (is_taped) results.tensors = notes.take_apart(std::move(results.tensors));
      results.tensors = ragged.take_apart(std::move(results.tensors), traced);
      return results;
    };
    const std::vector<TensorSpec> specs = signature.dense_specs();
    const auto run = [&](auto& tracer) {
      if (may_create) tracer.allow_creation();
      function_detail::Trace made = tracer.run(body);
      made.ragged = std::move(ragged);
      made.notes = std::move(notes);
      return made;
    };
    if (!is_taped) {
      Tracer tracer(options.name, specs, signature.bindings(values));
      return run(tracer);
    }
    taped = std::make_shared<function_detail::TapedTrace>(options.name, specs, signature.bindings(values), signature.symbols(),
                                                          cache.late_compiles());
    return run(*taped);
  };
  std::shared_ptr<const void> layout, second_layout;
  function_detail::Trace trace = trace_once(layout, is_first);
  if (trace.made_variables) trace = trace_once(layout, false);  // as every later call: one that is made anew each time is found here
  std::vector<FrozenValue> frozen;
  if (looks_for_frozen(options, is_first)) {
    const std::shared_ptr<function_detail::TapedTrace> first = taped;
    frozen = function_detail::find_frozen(trace, [&] { return trace_once(second_layout, false); });
    taped = first;
  }
  trace.host_numbers.clear();  // passes make other nodes
  if (is_taped && !differentiate(*taped, trace, tensors, key)) return nullptr;
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  TraceRecord record = function_detail::record_of(trace, signature);
  record.cause = why.cause;
  record.reason = std::move(why.reason);
  record.advice = std::move(why.advice);
  record.values = call.describe().parts;  // of now: tracing may build the objects it meets
  record.trace_ms = elapsed.count();
  record.frozen = std::move(frozen);
  if (!is_taped) trace.text = function_detail::text_beside(*trace.graph, signature, description.tensors);

  Compiled compiled = function_detail::compile(*trace.graph, signature.symbols(), function_detail::updates_of(trace));
  record.compile_ms = compiled.milliseconds;
  record.code_bytes = compiled.code_bytes;
  auto entry = std::make_shared<TraceEntry>(is_taped ? key : call.key(), std::move(signature), std::move(trace), std::move(layout),
                                            std::move(compiled), std::move(record), std::move(taped));
  const int64_t traces = cache.add(entry);
  if (!entry->made().frozen.empty() && !has_told_frozen.exchange(true)) function_detail::warn_of_frozen(options.name, entry->made().frozen);
  if (options.retrace == Retrace::Warn) warn(traces, entry->made());
  return entry;
}

// On the third trace, and then each time their number has doubled. Another size is what Shapes::Relax and Exact were asked to trace.
void FunctionCore::State::warn(int64_t traces, const TraceRecord& last) const {
  if (traces % 3 != 0 || !std::has_single_bit(static_cast<uint64_t>(traces / 3)) || last.cause == Cause::Size) return;
  log_warning(fmt::format("function \"{}\" was traced {} times in {} calls; the last because of {}. {}", options.name, traces,
                          counters.calls.load(std::memory_order_relaxed) + 1, last.reason, last.advice));
}

std::vector<Tensor> FunctionCore::State::run(const TraceEntry& entry, std::vector<Tensor>&& tensors, std::span<const int64_t> values,
                                             runtime::RandomState random) const {
  const function_detail::TapedTrace* const taped = entry.taped().get();
  std::vector<Tensor> arguments;  // whose rows a result may have
  if (entry.signature().has_ragged()) {
    arguments = std::exchange(tensors, detail::take_tensor_list());
    function_detail::append_dense_parts(arguments, tensors);
  }
  std::vector<Tensor> given, held;  // the inputs as tapes know them, and as they are read
  if (taped != nullptr) given = tensors;
  for (Tensor& tensor : tensors) {
    if (is_contiguous(*tensor.impl())) continue;
    tensor = contiguous(tensor);
    counters.copies.fetch_add(1, std::memory_order_relaxed);
  }
  const function_detail::Trace& trace = entry.trace();
  for (const size_t argument : trace.wide) {
    const double number = tensors[argument].impl()->number;  // of a host number, or what was made of one
    tensors.push_back(make_scalar(Dtype::f64, number != 0 ? number : tensors[argument].item<double>()));
  }
  tensors.insert(tensors.end(), trace.captures.begin(), trace.captures.end());
  const size_t first_variable = tensors.size();
  const VariableSet::Turn turn(entry.assigned());  // until its commit: no other call assigns between reading and assigning
  VariableUndo* const undo = trace.assigned.empty() ? nullptr : VariableUndo::current();
  if (undo != nullptr) [[unlikely]] {
    for (const auto& variable : trace.assigned) undo->remember(variable);
  }
  entry.variables().read(tensors);
  if (taped != nullptr) given = taped->read_inputs(std::move(given), tensors);
  for (size_t i = first_variable; i < tensors.size(); ++i) {
    if (!is_contiguous(*tensors[i].impl())) tensors[i] = contiguous(tensors[i]);
  }
  if (taped != nullptr) held = taped->read_inputs({}, tensors);
  function_detail::Commit commit(entry, tensors);
  std::vector<Tensor> results;
  try {
    results = entry.executable().run(tensors, values, random, &commit);
  } catch (const ShapeError&) {  // a rule on a size that the run found in its data, or of a region that it entered
    counters.failed_checks.fetch_add(1, std::memory_order_relaxed);
    throw;
  }
  commit.finish(std::span(results).subspan(trace.results + trace.kept));
  if (undo != nullptr) [[unlikely]] {
    for (const auto& variable : trace.assigned) undo->note_assigned(*variable);
  }
  results.resize(trace.results + trace.kept);
  if (taped != nullptr) {
    function_detail::TapedTrace::tell({entry.taped(), std::move(held), {}, {values.begin(), values.end()}, random}, given, results);
  }
  results = trace.ragged.put_together(std::move(results), arguments);
  if (taped != nullptr) results = trace.notes.put_together(std::move(results));
  detail::give_tensor_list(std::move(tensors));
  detail::give_tensor_list(std::move(arguments));
  return results;
}

FunctionStats FunctionCore::stats() const {
  const Counters& counters = state_->counters;
  FunctionStats stats = state_->cache.totals();
  stats.calls = counters.calls.load(std::memory_order_relaxed);
  stats.hits = counters.hits.load(std::memory_order_relaxed);
  stats.casts = counters.casts.load(std::memory_order_relaxed);
  stats.copies = counters.copies.load(std::memory_order_relaxed);
  stats.failed_checks = counters.failed_checks.load(std::memory_order_relaxed);
  return stats;
}

Ledger FunctionCore::ledger() const {
  Ledger ledger{state_->options.name, stats(), {}, {}};
  for (const Entry& entry : state_->cache.entries()) ledger.traces.push_back(entry->record());
  for (const function_detail::EvictedTrace& each : state_->cache.evicted()) {
    ledger.evicted.push_back(
        fmt::format("trace {}: {}, {} call{}", each.number, each.signature.to_string(), each.calls, each.calls == 1 ? "" : "s"));
  }
  return ledger;
}

void FunctionCore::clear() {
  state_->cache.clear();
  Counters& counters = state_->counters;
  for (std::atomic<int64_t>* each : {&counters.calls, &counters.hits, &counters.casts, &counters.copies, &counters.failed_checks})
    each->store(0, std::memory_order_relaxed);
}

}  // namespace anyshape
