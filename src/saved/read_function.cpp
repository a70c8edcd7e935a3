// Reading functions. Nothing in a file is believed: every number is held against what it counts, graphs enter by their ops' rules only, and a
// trace's inputs and outputs must be those that its structure says.
#include "base/cut_text.h"
#include "function/function_state.h"
#include "graph/text.h"
#include "io/safetensors.h"
#include "ops/all_ops.h"
#include "saved/bound_sizes.h"
#include "saved/file_format.h"
#include "saved/saved_function.h"
#include "shape/dim_node.h"
#include "shape/parse.h"

#include <anyshape/error.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

namespace anyshape {
namespace {

using detail::SavedFunction;
using function_detail::RaggedResults;
using function_detail::SavedTrace;
using function_detail::SavedTraces;
using function_detail::Signature;
using function_detail::Trace;
using saved::key_of_trace;

[[noreturn]] void fail(const std::string& what) { throw FormatError(what); }  // the reader adds the file and the part

size_t below(const Config& number, size_t limit, std::string_view what) {
  const int64_t value = number.as_integer();
  if (value < 0 || static_cast<uint64_t>(value) >= limit) fail(fmt::format("{} {} is not below {}", what, value, limit));
  return static_cast<size_t>(value);
}

// Texts that errors and reports show.
const std::string& shown_in(const Config& config) {
  constexpr size_t longest = 4096;
  const std::string& text = config.as_text();
  if (text.size() > longest || std::ranges::any_of(text, [](unsigned char c) { return c < ' ' || c == 127; }))
    fail(fmt::format("the text {} is longer than {} bytes, or has control characters", in_quotes(text), longest));
  return text;
}

Dtype dtype_in(const Config& config) {
  for (Dtype dtype = Dtype::b8; dtype <= Dtype::f64; dtype = static_cast<Dtype>(static_cast<int>(dtype) + 1)) {
    if (to_string(dtype) == config.as_text()) return dtype;
  }
  fail(fmt::format("{} is no dtype", in_quotes(config.as_text())));
}

// Axes as they are written; ragged ones take their bounds from `rows`.
Shape shape_in(const Config& config, const Config* rows, const SymbolLookup& lookup) {
  Shape shape;
  if (config.items().size() > static_cast<size_t>(max_rank))
    fail(fmt::format("a shape has {} axes; expected at most {}", config.items().size(), max_rank));
  for (const Config& each : config.items()) {
    const std::string& text = each.as_text();
    if (text.starts_with(saved::ragged_prefix)) {
      DimOptions bounds;
      if (rows != nullptr) bounds = {.min = (*rows)["min"].as_integer(), .max = (*rows)["max"].as_integer()};
      shape.push_back(ragged_dim(text.substr(saved::ragged_prefix.size()), bounds));
    } else {
      shape.push_back(text == saved::any_size ? dynamic : parse_dim(text, lookup));
    }
  }
  return shape;
}

TensorSpec spec_in(const Config& config, const SymbolLookup& lookup) {
  return {dtype_in(config["dtype"]), shape_in(config["shape"], config.find("rows"), lookup), shown_in(config["name"])};
}

std::vector<std::string> texts_in(const Config& config) {
  std::vector<std::string> texts;
  for (const Config& each : config.items()) texts.push_back(shown_in(each));
  return texts;
}

std::vector<ArgumentPart> parts_in(const Config& config) {
  std::vector<ArgumentPart> parts;
  for (const Config& each : config.items()) {
    const size_t role = below(each["role"], static_cast<size_t>(ArgumentRole::Notes) + 1, "role");
    parts.push_back({shown_in(each["name"]), shown_in(each["value"]), static_cast<ArgumentRole>(role), {}});
  }
  return parts;
}

int64_t integer_in(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) fail(fmt::format("{} is no number", in_quotes(text)));
  return value;
}

class Reader {
 public:
  explicit Reader(io::Safetensors content) : content_(std::move(content)) {
    for (const auto& each : content_.metadata) bytes_left_ += 2 * static_cast<int64_t>(each.second.size());
  }

  std::shared_ptr<SavedFunction> run() {
    const auto format = content_.metadata.find("format");
    if (format == content_.metadata.end() || format->second != saved::format_name)
      fail("it holds no function; expected a file that save(function, file) wrote");
    if (const int64_t version = integer_in(text("format_version")); version != saved::format_version) {
      const auto writer = content_.metadata.find("anyshape_version");
      fail(fmt::format("it has format version {}, written by anyshape {}; expected version {}. Read it with that version or a later one",
                       version, writer == content_.metadata.end() ? "of unknown version" : shortened(writer->second),
                       saved::format_version));
    }
    part_ = "function";
    const Config config = json("function");
    FunctionOptions options = read_options(config);
    read_variables(config["variables"]);
    const size_t count = below(config["traces"], saved::most_traces + 1, "the number of traces");
    if (count == 0) fail("there is no trace");
    auto traces = std::make_shared<SavedTraces>();
    for (size_t number = 0; number < count; ++number) traces->push_back(read_trace(number));
    part_.clear();
    auto function = std::make_shared<SavedFunction>();
    function->core = std::make_shared<FunctionCore>(std::move(options));
    function->core->state().saved = traces;
    function->traces = std::move(traces);
    function->variables = std::move(variables_);
    function->constants.assign(constants_.begin(), constants_.end());
    function->texts = std::move(content_.metadata);
    return function;
  }

  const std::string& part() const { return part_; }

 private:
  const std::string& text(const std::string& key) const {
    const auto found = content_.metadata.find(key);
    if (found == content_.metadata.end()) fail(fmt::format("\"{}\" is missing", key));
    return found->second;
  }

  Config json(const std::string& key) const {
    const std::string& found = text(key);
    if (found.size() > saved::longest_json)
      fail(fmt::format("\"{}\" has {} characters; expected at most {}", key, found.size(), saved::longest_json));
    return Config::from_json(found);
  }

  const Tensor& tensor(const std::string& name) const {
    const auto found = content_.tensors.find(name);
    if (found == content_.tensors.end()) fail(fmt::format("there is no tensor {}", in_quotes(name)));
    return found->second;
  }

  FunctionOptions read_options(const Config& config) {
    FunctionOptions options{.name = shown_in(config["name"]), .check_frozen = false};
    options.dtypes = static_cast<DtypePolicy>(below(config["dtypes"], static_cast<size_t>(DtypePolicy::Cast) + 1, "dtypes"));
    std::map<std::string, Dim, std::less<>> sizes;
    for (const Config& each : config["sizes"].items()) {
      const DimOptions range{
          .min = each["min"].as_integer(), .max = each["max"].as_integer(), .multiple_of = each["multiple_of"].as_integer()};
      sizes.emplace(each["name"].as_text(), dim(each["name"].as_text(), range));
    }
    const SymbolLookup lookup = [&](std::string_view name) {
      const auto found = sizes.find(name);
      if (found == sizes.end()) fail(fmt::format("the size {} of the signature is not declared", in_quotes(name)));
      return found->second;
    };
    for (const Config& each : config["signature"].items()) options.signature.push_back(spec_in(each, lookup));
    return options;
  }

  void read_variables(const Config& config) {
    std::vector<std::string> names;
    for (const Config& each : config.items()) {
      names.push_back(each["tensor"].as_text());
      variables_.emplace_back(tensor(names.back()), VariableOptions{.trainable = each["trainable"].as_bool(), .name = names.back()});
    }
    std::ranges::sort(names);
    if (const auto twice = std::ranges::adjacent_find(names); twice != names.end())
      fail(fmt::format("two variables are the tensor {}", in_quotes(*twice)));
  }

  Tensor constant(const Config& config) {
    const std::string& name = config.as_text();
    return constants_.try_emplace(name, tensor(name)).first->second;
  }

  const std::shared_ptr<VariableState>& variable(const Config& number) const {
    return variables_[below(number, variables_.size(), "variable")].state();
  }

  SavedTrace read_trace(size_t number) {
    part_ = key_of_trace("graph", number);
    const std::string& graph_text = text(part_);
    graph::Parsed parsed = graph::parse_within(graph_text, find_op, bytes_left_);
    part_ = key_of_trace("trace", number);
    const Config config = json(part_);
    const SymbolLookup lookup = [&](std::string_view name) {
      const auto found = parsed.sizes.find(name);
      if (found == parsed.sizes.end()) fail(fmt::format("the size {} is not declared in the graph", in_quotes(name)));
      return found->second;
    };
    SavedTrace read{.key = {},
                    .signature = read_signature(config, lookup),
                    .trace = {},
                    .arguments = texts_in(config["argument_names"]),
                    .results = texts_in(config["result_names"]),
                    .values = parts_in(config["values"])};
    if (read.arguments.size() != read.signature.specs().size()) fail("there are not as many names as arguments");
    read.key = saved::words_of(read.values);
    Trace& trace = read.trace;
    trace.graph = std::move(parsed.graph);
    for (const Config& each : config["wide"].items()) trace.wide.push_back(below(each, trace.graph->inputs().size(), "argument"));
    for (const Config& each : config["captures"].items()) trace.captures.push_back(constant(each));
    for (const Config& each : config["variables"].items()) trace.variables.push_back(variable(each));
    trace.owners = texts_in(config["owners"]);
    if (trace.owners.size() != trace.variables.size()) fail("there are not as many owners as variables");
    for (const Config& each : config["assigned"].items()) trace.assigned.push_back(variable(each));
    trace.results = below(config["results"], trace.graph->outputs.size() + 1, "the number of results");
    require_inputs(trace, read.signature);
    read_words(config, *trace.graph);
    require_outputs(trace);
    trace.ragged = read_ragged(config["ragged_results"], trace, read.signature, lookup);
    if (const auto size = saved::unbound_size(*trace.graph, read.signature.symbols()))
      fail(fmt::format("no argument says how large {} is", in_quotes(*size)));
    return read;
  }

  static Signature read_signature(const Config& config, const SymbolLookup& lookup) {
    Signature::Parts parts;
    for (const Config& each : config["arguments"].items()) parts.specs.push_back(spec_in(each, lookup));
    for (const Config& each : config["ragged"].items()) {
      parts.ragged.push_back({below(each["argument"], parts.specs.size(), "argument"), below(each["first"], parts.specs.size(), "argument"),
                              parse_dim(each["total"].as_text(), lookup), parse_dim(each["shortest"].as_text(), lookup),
                              parse_dim(each["longest"].as_text(), lookup)});
    }
    return Signature::of_parts(std::move(parts));
  }

  static bool is_of(const TensorSpec& spec, Dtype dtype, const Shape& shape, const Facts& facts) {
    bool is_same = spec.dtype == dtype && spec.shape.rank() == shape.rank();
    for (int axis = 0; is_same && axis < shape.rank(); ++axis) is_same = facts.proves_equal(spec.shape[axis], shape[axis]).value_or(false);
    return is_same;
  }

  static void require_inputs(const Trace& trace, const Signature& signature) {
    std::vector<TensorSpec> expected = signature.dense_specs();
    const size_t arguments = expected.size();
    for (const size_t wide : trace.wide) {
      if (wide >= arguments || expected[wide].shape.rank() != 0) fail(fmt::format("argument {} has no single number", wide));
      expected.push_back({Dtype::f64, {}, {}});
    }
    for (const Tensor& capture : trace.captures) expected.push_back({capture.dtype(), capture.shape(), {}});
    for (const auto& variable : trace.variables) expected.push_back({variable->dtype, variable->shape, {}});
    Facts facts;  // of what is verified before the graph runs: its inputs are written with what a trace has learned
    for (const graph::Check& check : trace.graph->checks) {
      if (check.after == nullptr) facts.assume(check.check);
    }
    const std::vector<graph::Value*>& inputs = trace.graph->inputs();
    if (inputs.size() != expected.size())
      fail(fmt::format("the graph has {} inputs; expected {}: arguments, captured tensors and variables", inputs.size(), expected.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      const TensorSpec& spec = inputs[i]->spec;
      if (!is_of(spec, expected[i].dtype, expected[i].shape, facts))
        fail(fmt::format("input {} of the graph is {}; expected {}", i, to_string(spec), to_string(expected[i])));
    }
  }

  // Assigned are variables that are read, each once, by values of their shape as far as the checks say.
  static void require_outputs(const Trace& trace) {
    const std::vector<graph::Value*>& outputs = trace.graph->outputs;
    if (outputs.size() != trace.results + trace.assigned.size())
      fail(fmt::format("the graph has {} outputs; expected {} results and {} variables", outputs.size(), trace.results,
                       trace.assigned.size()));
    const auto count = [](const auto& list, const auto& each) { return std::ranges::count(list, each); };
    for (const auto& variable : trace.variables) {
      if (count(trace.variables, variable) != 1) fail(fmt::format("{} is read twice", variable->described()));
    }
    Facts facts;
    for (const graph::Check& check : trace.graph->checks) facts.assume(check.check);
    for (size_t i = 0; i < trace.assigned.size(); ++i) {
      const VariableState& variable = *trace.assigned[i];
      const TensorSpec& spec = outputs[trace.results + i]->spec;
      if (count(trace.variables, trace.assigned[i]) != 1 || count(trace.assigned, trace.assigned[i]) != 1)
        fail(fmt::format("{} is not read, or assigned twice", variable.described()));
      if (!is_of(spec, variable.dtype, variable.shape, facts))
        fail(fmt::format("{} is assigned {}; expected its own dtype and shape", variable.described(), to_string(spec)));
    }
  }

  static void read_words(const Config& config, graph::Graph& graph) {
    const std::vector<Config>& checks = config["checks"].items();
    if (checks.size() > graph.checks.size())
      fail(fmt::format("there are words for {} checks; the graph has {}", checks.size(), graph.checks.size()));
    for (size_t i = 0; i < checks.size(); ++i) {
      graph.checks[i].what = shown_in(checks[i]["what"]);
      graph.checks[i].expected = shown_in(checks[i]["expected"]);
      graph.checks[i].operands = shown_in(checks[i]["operands"]);
      graph.checks[i].place = shown_in(checks[i]["place"]);
    }
    size_t next = 0;
    for (const Config& each : config["nodes"].items()) {
      const size_t count = below(each["count"], graph.nodes().size() - next + 1, "the number of nodes");
      for (size_t i = 0; i < count; ++i) graph.nodes()[next++]->place = shown_in(each["place"]);
    }
  }

  RaggedResults read_ragged(const Config& config, const Trace& trace, const Signature& signature, const SymbolLookup& lookup) {
    std::vector<RaggedResults::Result> results;
    size_t outputs = 0;
    for (const Config& each : config.items()) {
      RaggedResults::Result result;
      ++outputs;
      if (!each.is_null()) {
        result.is_ragged = true;
        result.shape = shape_in(each["shape"], nullptr, lookup);
        if (result.shape.rank() != 2 || !result.shape[1].is_ragged()) fail("a ragged result has another shape than rows of a ragged axis");
        if (const Config* const argument = each.find("argument")) {
          result.argument = below(*argument, signature.specs().size(), "argument");
          const Shape& shape = signature.specs()[*result.argument].shape;
          if (shape.rank() < 2 || !shape[1].is_ragged())
            fail(fmt::format("a result has the rows of argument {}, which has none", *result.argument));
        } else if (const Config* const splits = each.find("splits")) {
          result.held = make_partition(constant(*splits), "load_function");
        }
        if (outputs > trace.results || trace.graph->outputs[outputs - 1]->spec.shape.rank() == 0)
          fail("a ragged result is a single number");
        if (result.brings_splits() && outputs++ >= trace.results) fail("a ragged result has no splits");
        if (result.brings_splits()) {
          const TensorSpec& splits = trace.graph->outputs[outputs - 1]->spec;
          if (splits.dtype != Dtype::i64 || splits.shape.rank() != 1) fail(fmt::format("the splits of a result are {}", to_string(splits)));
        }
      }
      results.push_back(std::move(result));
    }
    if (outputs != trace.results) fail(fmt::format("{} outputs are results by their structure; the trace has {}", outputs, trace.results));
    return RaggedResults(std::move(results));
  }

  io::Safetensors content_;
  std::vector<Variable> variables_;
  std::map<std::string, Tensor> constants_;
  int64_t bytes_left_ = int64_t{48} << 20;  // that graphs may take
  std::string part_;
};

}  // namespace

LoadedFunction load_function(const std::string& file) {
  Reader reader(io::load_safetensors_with_metadata(file));
  try {
    std::shared_ptr<SavedFunction> function = reader.run();
    std::string values = function->traces->front().key;
    return {std::move(function), std::move(values)};
  } catch (const InternalError&) {
    throw;
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Error& error) {
    const std::string part = reader.part().empty() ? "" : fmt::format(", \"{}\"", reader.part());
    throw FormatError(fmt::format("load_function: {}{}: {}{}", in_quotes(file), part, error.what(),
                                  std::string_view(error.what()).ends_with('.') ? "" : "."));
  }
}

}  // namespace anyshape
