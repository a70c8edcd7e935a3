// Writing functions: the traces that are held, as text; the values of their variables as of one moment.
#include "function/function_state.h"
#include "graph/text.h"
#include "io/safetensors.h"
#include "ops/all_ops.h"
#include "saved/file_format.h"
#include "saved/saved_function.h"
#include "shape/dim_node.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/version.h>

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>

namespace anyshape {
namespace {

using detail::structure::Description;
using function_detail::Entry;
using function_detail::RaggedResults;
using function_detail::Signature;
using function_detail::Trace;
using saved::key_of_trace;
using Texts = std::map<std::string, std::string>;

template <class Items, class Make>
Config list_of(const Items& items, const Make& make) {
  std::vector<Config> list;
  for (const auto& each : items) list.push_back(make(each));
  return list;
}

Config shape_config(const Shape& shape) {
  return list_of(shape, [](const Dim& size) -> Config {
    if (const RaggedAxis* const axis = as_ragged_axis(size)) return std::string(saved::ragged_prefix) + axis->name;
    return is_dynamic(size) ? std::string(saved::any_size) : to_string(size);
  });
}

// Bounds of ragged axes stand beside the shape: they are no symbols'.
Config spec_config(const TensorSpec& spec) {
  Config config = Config::map({{"name", spec.name}, {"dtype", std::string(to_string(spec.dtype))}, {"shape", shape_config(spec.shape)}});
  for (const Dim& size : spec.shape) {
    const RaggedAxis* const axis = as_ragged_axis(size);
    if (axis != nullptr) config.set("rows", Config::map({{"min", axis->options.min}, {"max", axis->options.max}}));
  }
  return config;
}

Config parts_config(const std::vector<ArgumentPart>& parts) {
  return list_of(parts, [](const ArgumentPart& part) {
    return Config::map({{"name", part.name}, {"value", part.value}, {"role", static_cast<int>(part.role)}});
  });
}

// Names for tensors of one file, no two alike.
class Names {
 public:
  std::string own(std::string name) {
    if (name.starts_with("__")) name = "_" + name;  // the format keeps "__metadata__" for itself
    const std::string wanted = name;
    for (int number = 2; !taken_.insert(name).second; ++number) name = fmt::format("{}_{}", wanted, number);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

class Writer {
 public:
  explicit Writer(const FunctionOptions& options) : options_(options) {}

  void add(const function_detail::TraceEntry& entry, detail::DescribeResults describe_results) {
    const Trace& trace = entry.trace();
    const size_t number = traces_++;
    std::string graph = entry.made().graph;
    while (graph.starts_with("size ")) graph.erase(0, graph.find('\n') + 1);
    graph = trace.text->sizes + graph;
    try {
      int64_t bytes = std::numeric_limits<int64_t>::max();
      graph::parse_within(graph, find_op, bytes);
    } catch (const Error& error) {
      throw ArgumentError(fmt::format(
          "save: trace {} of function \"{}\" cannot be read again from its text: {} Give its sizes, layers and functions other names.",
          entry.number(), options_.name, error.what()));
    }
    const Description results = describe_results(entry.layout().get());
    texts_[key_of_trace("graph", number)] = std::move(graph);
    texts_[key_of_trace("trace", number)] = trace_config(entry, results).to_json();
  }

  void write(const std::string& file) {
    texts_["format"] = saved::format_name;
    texts_["format_version"] = fmt::to_string(saved::format_version);
    texts_["anyshape_version"] = version();
    texts_["function"] = function_config().to_json();
    for (const auto& [key, text] : texts_) {
      if (key.starts_with("graph.") || text.size() <= saved::longest_json) continue;
      throw ArgumentError(fmt::format("save: \"{}\" of function \"{}\" takes {} characters; expected at most {}. Save a smaller function.",
                                      key, options_.name, text.size(), saved::longest_json));
    }
    std::vector<std::pair<std::string, Tensor>> tensors;
    const std::vector<Tensor> values = read_together(variables_);
    for (size_t i = 0; i < values.size(); ++i) tensors.emplace_back(variable_names_[i], values[i]);
    tensors.insert(tensors.end(), constants_.begin(), constants_.end());
    io::save_safetensors(file, tensors, texts_);
  }

 private:
  Config function_config() const {
    Config config =
        Config::map({{"name", options_.name}, {"dtypes", static_cast<int>(options_.dtypes)}, {"traces", static_cast<int64_t>(traces_)}});
    std::vector<Config> variables;
    for (size_t i = 0; i < variables_.size(); ++i) {
      variables.push_back(Config::map({{"tensor", variable_names_[i]}, {"trainable", variables_[i]->trainable}}));
    }
    config.set("variables", std::move(variables));
    std::vector<Symbol> symbols;
    for (const TensorSpec& spec : options_.signature) {
      for (const Dim& size : spec.shape) {
        if (!size.is_ragged() && !is_dynamic(size)) for_each_symbol(size, [&](const Symbol& symbol) { symbols.push_back(symbol); });
      }
    }
    std::ranges::sort(symbols, {}, &Symbol::name);
    const auto same = std::ranges::unique(symbols, {}, &Symbol::name);
    symbols.erase(same.begin(), same.end());
    config.set("sizes", list_of(symbols, [](const Symbol& symbol) {
                 const DimOptions& range = symbol.options;
                 return Config::map({{"name", symbol.name}, {"min", range.min}, {"max", range.max}, {"multiple_of", range.multiple_of}});
               }));
    config.set("signature", list_of(options_.signature, spec_config));
    return config;
  }

  Config trace_config(const function_detail::TraceEntry& entry, const Description& results) {
    const Trace& trace = entry.trace();
    const Signature::Parts parts = entry.signature().parts();
    Config config =
        Config::map({{"values", parts_config(entry.made().values)},
                     {"argument_names", list_of(trace.text->arguments, [](const std::string& each) -> Config { return each; })}});
    config.set("arguments", list_of(parts.specs, spec_config));
    config.set("ragged", list_of(parts.ragged, [](const Signature::Parts::Ragged& rows) {
                 return Config::map({{"argument", static_cast<int64_t>(rows.argument)},
                                     {"first", static_cast<int64_t>(rows.first)},
                                     {"total", to_string(rows.total)},
                                     {"shortest", to_string(rows.shortest)},
                                     {"longest", to_string(rows.longest)}});
               }));
    config.set("wide", list_of(trace.wide, [](size_t argument) -> Config { return static_cast<int64_t>(argument); }));
    config.set("captures", list_of(trace.captures, [&](const Tensor& tensor) -> Config { return constant(tensor); }));
    std::vector<Config> variables;
    for (size_t i = 0; i < trace.variables.size(); ++i) variables.emplace_back(variable(trace.variables[i], trace.owners[i]));
    config.set("variables", std::move(variables));
    config.set("owners", list_of(trace.owners, [](const std::string& owner) -> Config { return owner; }));
    config.set("assigned",
               list_of(trace.assigned, [&](const std::shared_ptr<VariableState>& each) -> Config { return variable(each, ""); }));
    config.set("results", static_cast<int64_t>(trace.results));
    config.set("result_names", list_of(results.tensors, [](const std::string& each) -> Config { return each; }));
    config.set("result_values", parts_config(results.parts));
    config.set("ragged_results", list_of(trace.ragged.results(), [&](const RaggedResults::Result& each) {
                 if (!each.is_ragged) return Config();
                 Config rows = Config::map({{"shape", shape_config(Shape{each.shape[0], each.shape[1]})}});
                 if (each.argument) rows.set("argument", static_cast<int64_t>(*each.argument));
                 if (!each.argument && each.held != nullptr) rows.set("splits", constant(each.held->splits));
                 return rows;
               }));
    config.set(
        "checks", list_of(trace.text->checks, [](const function_detail::TracedText::Words& words) {
          return Config::map({{"what", words.what}, {"expected", words.expected}, {"operands", words.operands}, {"place", words.place}});
        }));
    config.set("nodes", list_of(trace.text->places, [](const std::pair<std::string, size_t>& each) {
                 return Config::map({{"place", each.first}, {"count", static_cast<int64_t>(each.second)}});
               }));
    return config;
  }

  int64_t variable(const std::shared_ptr<VariableState>& state, const std::string& owner) {
    const auto [entry, is_new] = number_of_.try_emplace(state.get(), static_cast<int64_t>(variables_.size()));
    if (is_new) {
      variables_.push_back(state);
      const std::string name = state->name.empty() ? fmt::format("variable{}", entry->second) : state->name;
      variable_names_.push_back(names_.own(owner.empty() ? name : owner + "/" + name));
    }
    return entry->second;
  }

  std::string constant(const Tensor& tensor) {
    const auto [entry, is_new] = constant_of_.try_emplace(tensor.impl().get(), fmt::format("constant{}", constants_.size()));
    if (is_new) {
      entry->second = names_.own(entry->second);
      constants_.emplace_back(entry->second, tensor);
    }
    return entry->second;
  }

  const FunctionOptions& options_;
  size_t traces_ = 0;
  Texts texts_;
  Names names_;
  std::vector<std::shared_ptr<VariableState>> variables_;
  std::vector<std::string> variable_names_;
  std::unordered_map<const VariableState*, int64_t> number_of_;
  std::vector<std::pair<std::string, Tensor>> constants_;
  std::unordered_map<const detail::TensorImpl*, std::string> constant_of_;
};

std::vector<Entry> entries_without_tapes(const FunctionCore& core) {
  std::vector<Entry> entries = core.state().cache.entries();
  std::erase_if(entries, [](const Entry& entry) { return entry->trace().text == nullptr; });
  // Several backends have a trace each, of one callable and one kind of call.
  std::vector<Entry> own;
  for (Entry& entry : entries) {
    const bool is_known = std::ranges::any_of(own, [&](const Entry& other) {
      return other->key() == entry->key() && other->made().graph == entry->made().graph && !other->is_of_current_backend();
    });
    if (!is_known) own.push_back(std::move(entry));
  }
  return own;
}

bool is_dense(const TensorSpec& spec) { return std::ranges::none_of(spec.shape, &Dim::is_ragged); }

}  // namespace

void detail::save_function(FunctionCore& core, const FunctionCall* example, DescribeResults describe_results, const std::string& file) {
  std::vector<Entry> entries = entries_without_tapes(core);
  const FunctionCore::State& state = core.state();
  const std::vector<TensorSpec>& signature = state.options.signature;
  const bool can_trace = example != nullptr && state.declared && example->describe().tensors.size() == signature.size() &&
                         std::ranges::all_of(signature, is_dense);
  if (entries.empty() && can_trace) {
    core.state().trace_by_signature(*example);
    entries = entries_without_tapes(core);
  }
  if (entries.empty()) {
    throw ArgumentError(
        fmt::format("save: function \"{}\" has no trace for \"{}\"; expected one that was called outside of any tape, or has a signature "
                    "that says all of "
                    "its arguments. Call it once with arguments as it will be called.",
                    state.options.name, file));
  }
  Writer writer(state.options);
  for (const Entry& entry : entries) writer.add(*entry, describe_results);
  writer.write(file);
}

void save(const LoadedFunction& function, const std::string& file) {
  const detail::SavedFunction& saved = *function.state();
  std::vector<std::shared_ptr<VariableState>> states;
  for (const Variable& variable : saved.variables) states.push_back(variable.state());
  const std::vector<Tensor> values = read_together(states);
  std::vector<std::pair<std::string, Tensor>> tensors = saved.constants;
  for (size_t i = 0; i < values.size(); ++i) tensors.emplace_back(saved.variables[i].name(), values[i]);
  io::save_safetensors(file, tensors, saved.texts);
}

}  // namespace anyshape
