// Backward parts: traced behind the forward part, cut out, compiled, run.
#include "function/taped_trace.h"

#include "base/no_fork.h"
#include "function/kept_values.h"
#include "graph/check.h"
#include "graph/cut.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

namespace anyshape::function_detail {

// Only tapes meet it.
struct TapedCallAttrs {
  std::shared_ptr<const TapedTrace::Call> call;
  std::shared_ptr<const TapedPart> part;
  std::vector<Tensor> seeds;
  template <class V>
  void visit(V&) {}
};

namespace {

constinit const OpDef taped_call_op{.name = "function", .kind = OpKind::Control, .inputs = -1, .gradient = TapedTrace::pull_back};

std::string name_of(const graph::Value& input) {
  return input.spec.name.empty() ? fmt::format("argument {}", input.index) : input.spec.name;
}

std::vector<bool> flags_of(std::span<const bool> flags) { return {flags.begin(), flags.end()}; }

}  // namespace

TapedTrace::TapedTrace(std::string name, std::span<const TensorSpec> arguments, Bindings hints, std::vector<Dim> symbols,
                       std::shared_ptr<LateCompiles> late)
    : name_(name), symbols_(std::move(symbols)), late_(std::move(late)), tracer_(name, arguments, std::move(hints)), flights_(name) {}

TapedTrace::~TapedTrace() {
  for (const auto& each : all_) late_->code_bytes.fetch_sub(each->compiled.code_bytes);
}

void TapedTrace::settle(std::span<const Tensor> arguments) {
  const Interpreter& tapes = current_interpreter();
  const graph::Graph& graph = *whole_.graph;
  outputs_ = graph.outputs;
  forward_nodes_ = graph.nodes().size();
  const auto follow = [&](Followed followed, std::vector<Tensor> sources) {
    followed_.push_back(std::move(followed));
    part_->sources.push_back(std::move(sources));
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (is_floating(arguments[i].dtype()) && tapes.tracks(arguments[i])) follow({Followed::Kind::Argument, i}, {arguments_[i]});
  }
  for (size_t i = 0; i < whole_.variables.size(); ++i) {
    const std::shared_ptr<VariableState>& variable = whole_.variables[i];
    std::vector<Tensor> given = recorder_.given_by(*variable);
    if (given.empty() || !is_floating(variable->dtype)) continue;
    variables_.push_back({variable, tapes.tracks(*variable), i});
    if (variables_.back().is_followed) follow({Followed::Kind::Variable, i}, std::move(given));
  }
  for (const Tensor& tensor : recorder_.taken_from_outside()) {
    outside_.emplace_back(tensor, tapes.tracks(tensor));
    if (outside_.back().second) follow({Followed::Kind::Outside, 0, tensor}, {tensor});
  }

  const TensorSet dependents = recorder_.dependents(part_->sources);
  for (size_t i = 0; i < results_.size(); ++i) {
    if (!is_floating(results_[i].dtype()) || dependents.find(results_[i].impl().get()) == nullptr) continue;
    targets_.push_back(i);
    part_->targets.push_back(results_[i]);
  }
  const std::unique_ptr<bool[]> all(new bool[std::max(followed_.size(), targets_.size())]);
  std::fill_n(all.get(), std::max(followed_.size(), targets_.size()), true);
  if (!targets_.empty()) {
    first_ = differentiate(*part_, {all.get(), followed_.size()}, {all.get(), targets_.size()}, false);
    first_->checks.clear();  // the forward part has them
    kept_ = choose_kept(graph, forward_nodes_, first_->gradients);
  }
  for (size_t i = 0; i < forward_nodes_ && first_ != nullptr; ++i) {
    const graph::Node& node = *graph.nodes()[i];
    if (!node.made) continue;
    made_.emplace_back(node.made->symbol, static_cast<size_t>(std::ranges::find(kept_, node.outputs.back()) - kept_.begin()));
  }
  inputs_ = graph.inputs();
  const size_t first_variable = inputs_.size() - whole_.variables.size();
  is_read_.assign(inputs_.size(), false);
  if (first_ != nullptr) std::fill_n(is_read_.begin(), first_variable, true);
  for (ReadVariable& each : variables_) each.input += first_variable;
  for (Followed& each : followed_) {
    if (each.kind == Followed::Kind::Variable) each.number += first_variable;
    const std::string owner = each.kind == Followed::Kind::Variable ? whole_.owners[each.number - first_variable] : "";
    names_.push_back(each.kind == Followed::Kind::Outside ? "a captured tensor"
                                                          : (owner.empty() ? "" : owner + "/") + name_of(*inputs_[each.number]));
    if (each.kind == Followed::Kind::Variable) is_read_[each.number] = true;
  }
  if (first_ == nullptr) return;
  first_->words = words_of(*part_, {all.get(), followed_.size()}, {all.get(), targets_.size()});
  cut_out(*first_);
  for (const Backward::Input& each : first_->inputs) {
    if (each.kind == Backward::Input::Kind::Forward) is_read_[each.number] = true;
  }
}

Trace TapedTrace::forward() const {
  Trace trace = whole_;
  std::vector<graph::Value*> outputs = outputs_;
  outputs.insert(outputs.begin() + static_cast<std::ptrdiff_t>(trace.results), kept_.begin(), kept_.end());
  trace.kept = kept_.size();
  trace.graph = graph::cut_front(*whole_.graph, forward_nodes_, outputs);
  trace.host_numbers.clear();
  return trace;
}

bool TapedTrace::is_followed_alike() const {
  const Interpreter& tapes = current_interpreter();
  return std::ranges::all_of(variables_, [&](const ReadVariable& each) { return tapes.tracks(*each.state) == each.is_followed; }) &&
         std::ranges::all_of(outside_, [&](const auto& each) { return tapes.tracks(each.first) == each.second; });
}

std::vector<Tensor> TapedTrace::read_inputs(std::vector<Tensor> first, std::span<const Tensor> inputs) const {
  for (size_t i = first.size(); i < inputs.size(); ++i) first.push_back(is_read_[i] ? inputs[i] : Tensor());
  return first;
}

std::string TapedTrace::words() const {
  std::vector<std::string> kept;
  for (const graph::Value* value : kept_) {  // a result is there anyway
    if (std::ranges::find(outputs_, value) == outputs_.end()) kept.push_back(anyshape::to_string(value->spec));
  }
  std::string text = names_.empty() ? "; it follows nothing" : fmt::format("; it follows {}", fmt::join(names_, ", "));
  if (!kept.empty()) text += fmt::format(", keeps {}", fmt::join(kept, ", "));
  for (const std::shared_ptr<const Backward>& each : backwards()) {
    const int64_t calls = each->calls.load(std::memory_order_relaxed);
    text += fmt::format("; backward part: {} ({} call{}, compiled in {:.1f} ms)", each->words, calls, calls == 1 ? "" : "s",
                        each->compiled.milliseconds);
  }
  return text;
}

std::vector<std::shared_ptr<const TapedPart::Backward>> TapedTrace::backwards() const {
  const std::scoped_lock lock(mutex_);
  return all_;
}

void TapedTrace::tell(Call call, std::span<const Tensor> given, std::vector<Tensor>& results) {
  const TapedTrace& trace = *call.trace;
  Interpreter& tapes = current_interpreter();
  const auto own = results.end() - static_cast<std::ptrdiff_t>(trace.kept_.size());
  call.kept.assign(std::make_move_iterator(own), std::make_move_iterator(results.end()));
  results.erase(own, results.end());
  for (const ReadVariable& each : trace.variables_) {
    if (each.is_followed) tapes.on_read(*each.state, given[each.input]);
  }
  if (trace.targets_.empty()) return;
  std::vector<Tensor> inputs, outputs;
  for (const Followed& each : trace.followed_) inputs.push_back(each.kind == Followed::Kind::Outside ? each.outside : given[each.number]);
  for (const size_t target : trace.targets_) outputs.push_back(results[target]);
  const std::shared_ptr<const TapedPart> part = trace.part_;
  tapes.follow(taped_call_op, inputs, TapedCallAttrs{std::make_shared<const Call>(std::move(call)), part, {}}, outputs);
}

std::vector<Tensor> TapedTrace::pull_back(const GradientCall& gradient) {
  const TapedCallAttrs& attrs = gradient.attrs.as<TapedCallAttrs>();
  const TapedTrace& trace = *attrs.call->trace;
  Interpreter& tapes = current_interpreter();
  std::vector<Tensor> inputs(gradient.inputs.begin(), gradient.inputs.end()), seeds = attrs.seeds;
  for (size_t i = 0; i < gradient.dys.size(); ++i) {
    if (!gradient.reached[i]) continue;
    if (is_traced(gradient.dys[i])) {
      throw TraceError(fmt::format(
          "gradient: function \"{}\" was called under this tape outside of the trace in which gradients are asked for; expected both "
          "inside, or both outside.",
          trace.name_));
    }
    inputs.push_back(gradient.dys[i]);
    seeds.push_back(gradient.dys[i]);
  }
  const bool twice = std::ranges::any_of(inputs, [&](const Tensor& input) { return tapes.tracks(input); });
  const Backward& backward = trace.backward_of(*attrs.part, gradient.needed, gradient.reached, twice);
  const std::vector<Tensor> outputs = trace.run(backward, *attrs.call, seeds);
  if (twice) {
    const std::shared_ptr<const TapedPart> part(attrs.call, &backward);
    tapes.follow(taped_call_op, inputs, TapedCallAttrs{attrs.call, part, std::move(seeds)}, outputs);
  }
  std::vector<Tensor> result(gradient.inputs.size());
  for (size_t i = 0; i < result.size(); ++i) {
    if (backward.gradient_of[i]) result[i] = outputs[*backward.gradient_of[i]];
  }
  return result;
}

const TapedPart::Backward* TapedTrace::find(const Part& part, std::span<const bool> needed, std::span<const bool> reached,
                                            bool twice) const {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find_if(part.backwards, [&](const std::shared_ptr<const Backward>& each) {
    return each->twice == twice && std::ranges::equal(each->needed, needed) && std::ranges::equal(each->reached, reached);
  });
  return found == part.backwards.end() ? nullptr : found->get();
}

const TapedPart::Backward& TapedTrace::backward_of(const Part& part, std::span<const bool> needed, std::span<const bool> reached,
                                                   bool twice) const {
  if (const Backward* known = find(part, needed, reached, twice)) return *known;
  const Flight flight(flights_, "");
  if (const Backward* known = find(part, needed, reached, twice)) return *known;
  std::shared_ptr<Backward> made;
  if (&part == part_.get() && !twice && std::ranges::equal(first_->needed, needed) && std::ranges::equal(first_->reached, reached)) {
    made = first_;
  } else {
    made = differentiate(part, needed, reached, twice);
    made->words = words_of(part, needed, reached);
    cut_out(*made);
  }
  compile(*made);
  const std::scoped_lock lock(mutex_);
  part.backwards.push_back(made);
  all_.push_back(made);
  return *made;
}

std::shared_ptr<TapedPart::Backward> TapedTrace::differentiate(const Part& part, std::span<const bool> needed,
                                                               std::span<const bool> reached, bool twice) const {
  const auto start = std::chrono::steady_clock::now();
  auto made = std::make_shared<Backward>();
  made->needed = flags_of(needed);
  made->reached = flags_of(reached);
  made->twice = twice;
  std::vector<Tensor> targets, seeds;
  for (size_t i = 0; i < part.targets.size(); ++i) {
    if (!reached[i]) continue;
    targets.push_back(part.targets[i]);
    seeds.push_back(tracer_.add_input({targets.back().dtype(), targets.back().shape(), fmt::format("gradient{}", i)}));
  }
  std::vector<std::vector<Tensor>> sources;
  for (size_t i = 0; i < needed.size(); ++i) sources.push_back(needed[i] ? part.sources[i] : std::vector<Tensor>());
  const size_t checks = whole_.graph->checks.size();
  made->gradients = tracer_.resume(whole_, [&] {
    const TraceRecorder::Recording recording(recorder_, twice);
    made->targets = run_scope([&]() -> FunctionResults {
                      FunctionResults results;
                      made->gradient_of.clear();
                      for (std::optional<Tensor>& found : recorder_.gradient(targets, seeds, sources)) {
                        made->gradient_of.push_back(found ? std::optional(results.tensors.size()) : std::nullopt);
                        if (found) results.tensors.push_back(std::move(*found));
                      }
                      return results;
                    }).tensors;
    return made->targets;
  });
  for (size_t i = checks; i < whole_.graph->checks.size(); ++i) made->checks.push_back(whole_.graph->checks[i]);
  made->sources = part.sources;
  made->seeds = part.seeds;
  for (const Tensor& seed : seeds) {
    made->sources.push_back({seed});
    made->seeds.push_back(seed);
  }
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  made->trace_ms = elapsed.count();
  return made;
}

void TapedTrace::cut_out(Backward& backward) const {
  const graph::Graph& whole = *whole_.graph;
  std::vector<graph::Value*> given;
  std::vector<Backward::Input> from;
  const auto give = [&](graph::Value* value, Backward::Input input) {
    given.push_back(value);
    from.push_back(std::move(input));
  };
  for (size_t i = 0; i < backward.seeds.size(); ++i) give(backward.seeds[i].impl()->traced()->value, {Backward::Input::Kind::Seed, i});
  for (size_t i = 0; i < kept_.size(); ++i) give(kept_[i], {Backward::Input::Kind::Kept, i});
  for (size_t i = 0; i < inputs_.size(); ++i) give(inputs_[i], {Backward::Input::Kind::Forward, i});
  // What a gradient takes from around the trace that the forward part does not.
  const size_t first_variable = whole.inputs().size() - whole_.variables.size(), first_capture = first_variable - whole_.captures.size();
  for (size_t i = first_capture; i < whole.inputs().size(); ++i) {
    graph::Value* const input = whole.inputs()[i];
    if (std::ranges::find(inputs_, input) != inputs_.end()) continue;
    if (i < first_variable) {
      give(input, {.kind = Backward::Input::Kind::Held, .held = whole_.captures[i - first_capture]});
    } else {
      give(input, {.kind = Backward::Input::Kind::Variable, .variable = whole_.variables[i - first_variable]});
    }
  }
  graph::CutBack cut = graph::cut_back(whole, given, backward.gradients);
  for (const size_t input : cut.inputs) backward.inputs.push_back(from[input]);
  backward.graph = std::move(cut.graph);
  backward.graph->name = name_ + ".backward";
}

void TapedTrace::compile(Backward& backward) const {
  std::vector<Dim> symbols = symbols_;
  for (const auto& [symbol, kept] : made_) symbols.push_back(symbol);
  backward.compiled = function_detail::compile(*backward.graph, std::move(symbols));
  backward.graph.reset();
  if (backward.compiled.executable->code().interpreted_launches() == 0) late_->compiles.fetch_add(1);
  late_->code_bytes.fetch_add(backward.compiled.code_bytes);
  late_->compile_ms.fetch_add(backward.compiled.milliseconds);
  late_->trace_ms.fetch_add(backward.trace_ms);
}

std::vector<Tensor> TapedTrace::run(const Backward& backward, const Call& call, std::span<const Tensor> seeds) const {
  using Kind = Backward::Input::Kind;
  const NoFork whole;
  std::vector<Tensor> inputs;
  for (const Backward::Input& each : backward.inputs) {
    switch (each.kind) {
      case Kind::Seed: inputs.push_back(contiguous(seeds[each.number])); break;
      case Kind::Kept: inputs.push_back(call.kept[each.number]); break;
      case Kind::Forward: inputs.push_back(call.inputs[each.number]); break;
      case Kind::Variable: inputs.push_back(contiguous(each.variable->value())); break;
      case Kind::Held: inputs.push_back(each.held); break;
    }
    if (inputs.back().defined()) continue;
    throw InternalError(fmt::format("function \"{}\": a gradient needs a value that was not kept", name_));
  }
  std::vector<int64_t> values = call.values;
  for (const auto& [symbol, kept] : made_) values.push_back(call.kept[kept].item<int64_t>());
  if (!backward.checks.empty()) {
    Bindings sizes;
    for (size_t i = 0; i < symbols_.size(); ++i) sizes.set(symbols_[i], values[i]);
    for (size_t i = 0; i < made_.size(); ++i) sizes.set(made_[i].first, values[symbols_.size() + i]);
    for (const graph::Check& check : backward.checks) {
      if (!check.check.holds(sizes)) graph::throw_failed(check, sizes, name_);
    }
  }
  backward.calls.fetch_add(1, std::memory_order_relaxed);
  return backward.compiled.executable->run(inputs, values, call.random);
}

// "result 0 by x, dense_1/kernel".
std::string TapedTrace::words_of(const Part& part, std::span<const bool> needed, std::span<const bool> reached) const {
  std::vector<std::string> results, by;
  const bool is_first = &part == part_.get();
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i]) results.push_back(fmt::format("{} {}", is_first ? "result" : "gradient", is_first ? targets_[i] : i));
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) by.push_back(i < names_.size() ? names_[i] : fmt::format("output gradient {}", i - names_.size()));
  }
  return fmt::format("{} by {}", fmt::join(results, ", "), fmt::join(by, ", "));
}

}  // namespace anyshape::function_detail
