// onnx::save: a trace of its own, simplified, and written by the export.
#include <anyshape/onnx_export.h>

#include "function/registry.h"
#include "function/signature.h"
#include "function/tracer.h"
#include "graph/stateful.h"
#include "onnx/out/exporter.h"
#include "onnx/out/file.h"
#include "passes/run_passes.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>
#include <anyshape/version.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <set>

namespace anyshape {
namespace {

using function_detail::Signature;
using function_detail::Trace;
using function_detail::Tracer;
using onnx::SaveOptions;
using onnx::out::Emitter;
using onnx::out::ValueText;

// What is saved, whatever it is: how errors call it, and what it computes.
struct Saved {
  std::string described, name;  // `model "net"`, and the name alone
  std::function<std::vector<Tensor>(std::span<const Tensor>)> run;
  std::vector<std::string> outputs;  // their names, where the model has some
};

[[noreturn]] void refuse(const Saved& saved, const std::string& what) {
  throw ArgumentError(fmt::format("onnx::save: {}: {}", saved.described, what));
}

// Sizes to trace with where no example says them: large enough for windows and strides, small enough to be written down.
std::vector<int64_t> usual_sizes(const Signature& signature) {
  constexpr int64_t usual = 64;
  std::vector<int64_t> sizes;
  for (const Dim& symbol : signature.symbols()) {
    const DimOptions& options = as_symbol(symbol)->options;
    const int64_t step = std::max<int64_t>(options.multiple_of, 1),
                  wanted = std::max((usual + step - 1) / step * step, (options.min + step - 1) / step * step);
    sizes.push_back(wanted > options.max ? options.max / step * step : wanted);
  }
  return sizes;
}

struct Traced {
  Trace trace;
  std::vector<size_t> parts;    // of each result: a ragged one has values and, where its rows are not an argument's, splits
  std::vector<bool> is_ragged;  // likewise
};
Traced trace_of(const Saved& saved, const Signature& signature, std::span<const int64_t> sizes) {
  Traced traced;
  Tracer tracer(saved.name, signature.dense_specs(), signature.bindings(sizes));
  function_detail::RaggedResults ragged;
  std::vector<Tensor> arguments;
  traced.trace = tracer.run([&](std::span<const Tensor> inputs) {
    if (arguments.empty()) arguments = signature.from_dense(inputs);
    const std::vector<Tensor> results = saved.run(arguments);
    traced.parts.clear();
    traced.is_ragged.clear();
    for (const Tensor& result : results) {
      traced.parts.push_back(ragged.take_apart({result}, arguments).size());
      traced.is_ragged.push_back(result.defined() && result.is_ragged());
    }
    return detail::FunctionResults{ragged.take_apart(results, arguments)};
  });
  const Trace& trace = traced.trace;
  if (trace.made_variables)
    refuse(saved, "it makes variables as it runs; expected one that is built. Call it once on data, or its build().");
  if (!trace.assigned.empty()) {
    std::vector<std::string> names;
    for (const auto& variable : trace.assigned) names.push_back(variable->described());
    refuse(saved, fmt::format("it assigns {}; expected what gives results and changes nothing: an ONNX file holds no training step. Save "
                              "the model that it trains.",
                              fmt::join(names, ", ")));
  }
  if (!trace.wide.empty())
    refuse(saved, "a number among its arguments meets f64; expected a tensor of rank 0 with the dtype that it is used in.");
  return traced;
}

// Passes that say the same with fewer ops; those behind them are for our own kernels.
void simplify(graph::Graph& graph) {
  Decisions decisions;
  passes::remove_dead_code(graph, decisions);
  passes::drop_identities(graph, decisions);
  passes::fold_constants(graph, decisions);
  passes::simplify_algebra(graph, decisions);
  passes::deduplicate(graph, decisions);
  passes::remove_dead_code(graph, decisions);
}

// With sizes that nobody gave: what does not run with them is told with them.
Traced trace_of(const Saved& saved, const Signature& signature) {
  const std::vector<int64_t> sizes = usual_sizes(signature);
  try {
    return trace_of(saved, signature, sizes);
  } catch (const ShapeError& error) {
    std::string tried;
    for (size_t i = 0; i < sizes.size(); ++i)
      tried += fmt::format("{}{} = {}", tried.empty() ? "" : ", ", to_string(signature.symbols()[i]), sizes[i]);
    refuse(saved,
           fmt::format(
               "it was tried with {}, and refuses that: {} Write sizes that are fixed as numbers, and give a range to those that have one: "
               "as::dim(\"time\", {{.max = 32}}).",
               tried, error.what()));
  }
}

ValueText value_text(std::string name, const TensorSpec& spec, const std::set<std::string>& symbols) {
  ValueText text{.name = std::move(name), .dtype = spec.dtype, .sizes = {}};
  for (const Dim& size : spec.shape) {
    if (size.is_constant()) {
      text.sizes.emplace_back(size.value());
      continue;
    }
    const Symbol* const symbol = as_symbol(size);
    text.sizes.emplace_back(symbol != nullptr && symbols.contains(symbol->name) ? symbol->name : std::string());
  }
  return text;
}

// Sizes that the trace could not prove: the file holds where they do.
std::string conditions_of(const graph::Graph& graph) {
  std::vector<std::string> texts;
  for (const graph::Check& check : graph.checks) {
    const std::string text = to_string(check.check);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

// Every symbol is read from an input that has it for a size, or a size that is more by a number, as row splits have one more than there are rows.
void bind_sizes(Emitter& emitter, const std::string& name, const Shape& shape) {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    for_each_symbol(shape[axis], [&](const Symbol& symbol) {
      const Dim more = shape[axis].node()->constant;
      const Dim alone = shape[axis] - more;
      const Symbol* const own = as_symbol(alone);
      if (own == nullptr || own->id != symbol.id) return;
      const std::string size = emitter.size_of_axis(name, axis);
      emitter.set_symbol(alone, more.same_as(0) ? size : emitter.add("Sub", {size, emitter.size(more)}));
    });
  }
}

// Of ragged rows the lengths of the shortest and the longest, from their splits.
void bind_lengths(Emitter& emitter, const std::string& splits, const Dim& axis) {
  const std::string zero = emitter.integers({0}), one = emitter.integers({1}), last = emitter.integers({-1});
  const std::string ends = emitter.add("Slice", {splits, one, emitter.integers({std::numeric_limits<int64_t>::max()}), zero});
  const std::string lengths = emitter.add("Sub", {ends, emitter.add("Slice", {splits, zero, last, zero})});
  const RaggedAxis& rows = *as_ragged_axis(axis);
  if (as_symbol(rows.shortest) != nullptr) emitter.set_symbol(rows.shortest, emitter.add("ReduceMin", {lengths}));
  if (as_symbol(rows.longest) != nullptr) emitter.set_symbol(rows.longest, emitter.add("ReduceMax", {lengths}));
}

void bind_symbols(Emitter& emitter, const graph::Graph& graph, const Signature& signature) {
  const std::vector<TensorSpec> dense = signature.dense_specs();
  for (size_t i = 0; i < dense.size(); ++i) {
    bind_sizes(emitter, graph.inputs()[i]->spec.name, dense[i].shape);
    bind_sizes(emitter, graph.inputs()[i]->spec.name, graph.inputs()[i]->spec.shape);
  }
  size_t next = 0;
  for (const TensorSpec& spec : signature.specs()) {
    const bool is_ragged = spec.shape.rank() > 1 && spec.shape[1].is_ragged();
    if (is_ragged) bind_lengths(emitter, graph.inputs()[next + 1]->spec.name, spec.shape[1]);
    next += is_ragged ? 2 : 1;
  }
}

std::vector<std::string> output_names(const Saved& saved, const SaveOptions& options, const Traced& traced) {
  const std::vector<std::string>& given = options.outputs.empty() ? saved.outputs : options.outputs;
  const size_t results = traced.parts.size();
  if (!options.outputs.empty() && given.size() != results) {
    refuse(saved, fmt::format("it has {} result{} and .outputs {} name{}; expected one for each.", results, results == 1 ? "" : "s",
                              given.size(), given.size() == 1 ? "" : "s"));
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < results; ++i) {
    const std::string name = given.size() == results ? given[i] : results == 1 ? "output" : fmt::format("output{}", i);
    names.push_back(traced.is_ragged[i] ? name + ".values" : name);
    if (traced.parts[i] > 1) names.push_back(name + ".splits");
  }
  return names;
}

void reserve_outputs(const Saved& saved, const std::vector<std::string>& names, Emitter& emitter) {
  for (const std::string& name : names) {
    if (name.empty()) refuse(saved, "the name of a result is empty; expected one that a runtime can ask for.");
    if (emitter.unique(name) != name)
      refuse(saved, fmt::format("two results are called \"{}\"; expected a name of its own for each.", name));
  }
}

// The inputs of the file, by the names that they are given or, without one, by their number; notes which symbols stand among their sizes.
std::vector<ValueText> take_inputs(const Saved& saved, std::span<graph::Value* const> values, Emitter& emitter,
                                   std::set<std::string>& symbols) {
  std::vector<ValueText> inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string& name = values[i]->spec.name;
    if (name.empty()) name = values.size() == 1 ? "input" : fmt::format("input{}", i);
    if (emitter.unique(name) != name)
      refuse(saved,
             fmt::format("\"{}\" is the name of two inputs, or of an input and a result; expected a name of its own for each.", name));
    emitter.set(values[i], name);
    for (const Dim& size : values[i]->spec.shape) {
      if (const Symbol* symbol = as_symbol(size)) symbols.insert(symbol->name);
    }
    inputs.push_back(value_text(name, values[i]->spec, symbols));
  }
  return inputs;
}

// What the trace took from around it, then its variables, as of one moment, should somebody train.
void give_constants(const Trace& trace, std::span<graph::Value* const> values, Emitter& emitter) {
  const size_t first = trace.captures.size();
  for (size_t i = 0; i < first; ++i) emitter.set_known(values[i], trace.captures[i], values[i]->spec.name);
  const std::vector<Tensor> weights = read_together(trace.variables);
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::string &owner = trace.owners[i], &own = values[first + i]->spec.name;
    emitter.set_known(values[first + i], weights[i], owner.empty() ? own : fmt::format("{}/{}", owner, own));
  }
}

void write(const Saved& saved, const Signature& signature, const Traced& traced, const std::filesystem::path& file,
           const SaveOptions& options) {
  if (options.opset < 18 || options.opset > 21) refuse(saved, fmt::format("the opset is {}; expected 18 to 21.", options.opset));
  const Trace& trace = traced.trace;
  graph::Graph& graph = *trace.graph;
  simplify(graph);
  Emitter emitter(options.opset);
  onnx::out::Exporter exporter(emitter);
  exporter.note_uses(graph);

  std::set<std::string> symbols;
  const std::vector<std::string> wanted = output_names(saved, options, traced);
  reserve_outputs(saved, wanted, emitter);
  const size_t count = signature.dense_specs().size();
  std::vector<ValueText> inputs = take_inputs(saved, std::span(graph.inputs()).first(count), emitter, symbols), outputs;
  bind_symbols(emitter, graph, signature);
  give_constants(trace, std::span(graph.inputs()).subspan(count), emitter);
  const onnx::out::Names results = exporter.write(graph);
  if (const std::string missing = exporter.missing(); !missing.empty()) {
    refuse(
        saved,
        fmt::format(
            "some of its ops have no form in ONNX: {}. docs/guide/onnx_export.md lists what has; save the part of the model before these, "
            "or compute them behind it.",
            missing));
  }
  for (size_t i = 0; i < trace.results; ++i) outputs.push_back(value_text(wanted[i], graph.outputs[i]->spec, symbols));
  std::string name = options.name.empty() ? saved.name : options.name;
  onnx::out::FileText text{
      .graph = emitter.finish(std::move(name), std::move(inputs), std::move(outputs), results), .opset = options.opset, .notes = {}};
  if (const std::string conditions = conditions_of(graph); !conditions.empty()) text.notes.emplace_back("anyshape.sizes", conditions);
  onnx::out::write(text, "onnx::save", file);
}

}  // namespace

void onnx::save(const AnyLayer& model, const std::filesystem::path& file, const SaveOptions& options) {
  if (!model.defined()) throw ArgumentError("onnx::save: the model is an empty handle; expected a model or layer.");
  const Saved saved{
      .described = fmt::format("{} \"{}\"", model.type(), model.name()),
      .name = model.name(),
      .run = [&](std::span<const Tensor> inputs) { return model.outputs({inputs.begin(), inputs.end()}, {.training = false}).tensors(); },
      .outputs = model.layer()->output_names()};
  if (!model.is_built()) refuse(saved, "it is not built; expected one that has its weights. Call it once on data, or its build().");
  const std::vector<TensorSpec> specs = options.inputs.empty() ? model.layer()->input_specs() : options.inputs;
  if (specs.empty()) {
    refuse(saved,
           "nothing says what it takes; expected a model with as::input(), or .inputs = {as::spec(as::f32, {as::dim(\"batch\"), 784}, "
           "\"x\")}.");
  }
  const Signature signature = Signature::declared(specs);
  write(saved, signature, trace_of(saved, signature), file, options);
}

void detail::save_onnx(const FunctionCore& core, const FunctionCall& call, std::vector<Tensor> examples, const std::filesystem::path& file,
                       onnx::SaveOptions options) {
  const FunctionOptions& declared = function_detail::options_of(core);
  const Saved saved{.described = fmt::format("function \"{}\"", declared.name),
                    .name = declared.name,
                    .run = [&](std::span<const Tensor> inputs) { return call.run(inputs).tensors; },
                    .outputs = {}};
  const std::vector<TensorSpec>& specs = options.inputs.empty() ? declared.signature : options.inputs;
  const detail::structure::Description description = call.describe();
  if (!specs.empty() && specs.size() != description.tensors.size())
    refuse(saved,
           fmt::format("it takes {} tensors, and {} are described; expected one spec for each.", description.tensors.size(), specs.size()));
  if (specs.empty() && examples.empty() && !description.tensors.empty())
    refuse(saved, "it has no signature; expected one, .inputs in the options, or examples of the arguments behind the options.");
  const Signature signature = specs.empty() ? Signature::open(examples, description.tensors) : Signature::declared(specs);
  if (examples.empty()) return write(saved, signature, trace_of(saved, signature), file, options);
  std::vector<int64_t> sizes;
  signature.bind(examples, sizes);
  write(saved, signature, trace_of(saved, signature, sizes), file, options);
}

}  // namespace anyshape
