// Functional networks: their inputs, layers, constants and steps. A value is named by its number: the inputs, then the constants, then what steps give.
#include "base/near_names.h"
#include "graph/bind.h"
#include "graph/symbol_collector.h"
#include "nn/describe_call.h"
#include "nn/layer_config.h"
#include "nn/make_layer.h"
#include "nn/network.h"
#include "nn/network_config.h"
#include "ops/all_ops.h"
#include "shape/dim_node.h"
#include "shape/parse.h"
#include "shape/substitute.h"

#include <anyshape/error.h>
#include <anyshape/model.h>
#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace anyshape::nn {
namespace {

constexpr int64_t most_elements = 1 << 16;  // of a constant

struct SizeConfig {  // a size with a name, which may stand in several inputs
  std::string name = {};
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t multiple_of = 1;
};
struct InputConfig {
  std::string name = {};
  Dtype dtype = Dtype::f32;
  std::vector<Config> sizes = {};  // of a row: numbers, none where it is open, or a SizeConfig
  bool ragged = false;
};
struct ConstantConfig {
  Dtype dtype = Dtype::f32;
  bool weak = false;  // a number of the program's: it takes the dtype of what it meets
  std::vector<int64_t> shape = {};
  std::vector<Config> values = {};
};
struct StepConfig {
  std::optional<int64_t> layer = {};  // its number, or
  std::string op = {};
  Config attributes = {};
  std::vector<int64_t> inputs = {};
  std::optional<bool> training = {};
  bool use_causal_mask = false;
  bool return_state = false;
  bool return_attention_scores = false;
};
struct FunctionalArguments {
  std::vector<InputConfig> inputs;
  std::vector<Config> layers;
  std::vector<ConstantConfig> constants;
  std::vector<StepConfig> steps;
  std::vector<int64_t> outputs;
};
struct FunctionalOptionFields {
  std::vector<std::string> output_names = {};
  std::string name = {};
};

ArgumentError cannot_be_told(const std::string& what, const char* advice) {
  return ArgumentError(fmt::format("config: the functional model {}, which no config can tell; {}", what, advice));
}

// Symbols of the inputs under names that differ: what attributes of ops say of sizes.
class SizeNames {
 public:
  std::string add(const Symbol& symbol) {
    if (const auto found = names_.find(symbol.id); found != names_.end()) return to_string(found->second);
    std::string name = symbol.name;
    for (int number = 2; std::ranges::find(taken_, name) != taken_.end(); ++number) name = fmt::format("{}_{}", symbol.name, number);
    taken_.push_back(name);
    names_.emplace(symbol.id, dim(name));
    return name;
  }
  std::string text(const Dim& size, std::string_view op) const {
    graph::SymbolCollector collector;
    collector.add(size);
    for (const Symbol& symbol : collector.symbols) {
      if (!names_.contains(symbol.id)) {
        throw cannot_be_told(fmt::format("has an op {} with the size {}, which is none of its inputs'", op, to_string(size)),
                             "expected sizes of inputs. Put what makes the size into a layer of your own.");
      }
    }
    return to_string(substitute(size, names_));
  }

 private:
  Substitution names_;
  std::vector<std::string> taken_;
};

class AttributeWriter final : public AttrVisitor {
 public:
  AttributeWriter(const SizeNames& names, std::string_view op) : names_(names), op_(op) {}
  void operator()(std::string_view name, bool& field) override { add(name, field); }
  void operator()(std::string_view name, int64_t& field) override { add(name, field); }
  void operator()(std::string_view name, double& field) override { add(name, field); }
  void operator()(std::string_view name, Dtype& field) override { add(name, std::string(to_string(field))); }
  void operator()(std::string_view name, Dim& field) override { add(name, size(field)); }
  void operator()(std::string_view name, Shape& field) override { add(name, sizes(field)); }
  void operator()(std::string_view name, std::vector<int64_t>& field) override {
    add(name, std::vector<Config>(field.begin(), field.end()));
  }
  void operator()(std::string_view name, std::vector<Dim>& field) override { add(name, sizes(field)); }
  void operator()(std::string_view, RegionGraph&) override {
    throw cannot_be_told(fmt::format("has an op {} with a body of its own", op_),
                         "expected layers and plain ops. Put it into a layer of your own.");
  }
  Config config() { return Config::map(std::move(fields_)); }

 private:
  Config size(const Dim& field) const { return field.is_constant() ? Config(field.value()) : Config(names_.text(field, op_)); }
  Config sizes(const auto& field) const {
    std::vector<Config> all;
    for (const Dim& each : field) all.push_back(size(each));
    return all;
  }
  void add(std::string_view name, Config value) { fields_.push_back({std::string(name), std::move(value)}); }

  const SizeNames& names_;
  std::string_view op_;
  std::vector<Config::Field> fields_;
};

class AttributeReader final : public AttrVisitor {
 public:
  AttributeReader(const Config& given, const SymbolLookup& lookup, std::string place)
      : given_(given), lookup_(lookup), place_(std::move(place)) {}
  using AttrVisitor::operator();
  void operator()(std::string_view name, bool& field) override { read(name, field); }
  void operator()(std::string_view name, int64_t& field) override { read(name, field); }
  void operator()(std::string_view name, double& field) override { read(name, field); }
  void operator()(std::string_view name, Dtype& field) override { read(name, field); }
  void operator()(std::string_view name, std::vector<int64_t>& field) override { read(name, field); }
  void operator()(std::string_view name, Dim& field) override {
    if (const Config* const config = given_.find(name)) field = size(*config);
    known_.push_back(name);
  }
  void operator()(std::string_view name, Shape& field) override {
    field = Shape();
    for_each(name, [&](const Dim& size) { field.push_back(size); });
  }
  void operator()(std::string_view name, std::vector<Dim>& field) override {
    field.clear();
    for_each(name, [&](const Dim& size) { field.push_back(size); });
  }
  void require_all_known() const { detail::require_known(given_, place_, known_); }

 private:
  template <class T>
  void read(std::string_view name, T& field) {
    if (const Config* const config = given_.find(name)) field = detail::from_config<T>(*config, place_ + ": " + std::string(name));
    known_.push_back(name);
  }
  Dim size(const Config& config) const {
    if (config.kind() == Config::Kind::Integer) return config.as_integer();
    if (config.kind() != Config::Kind::Text) detail::refuse_value(place_ + ": a size", config, "a number or a formula");
    return parse_dim(config.as_text(), lookup_);
  }
  template <class Body>
  void for_each(std::string_view name, const Body& body) {
    const std::vector<Config> sizes = given_.find(name) == nullptr
                                          ? std::vector<Config>()
                                          : detail::from_config<std::vector<Config>>(given_[name], place_ + ": " + std::string(name));
    for (const Config& each : sizes) body(size(each));
    known_.push_back(name);
  }

  const Config& given_;
  const SymbolLookup& lookup_;
  std::string place_;
  std::vector<std::string_view> known_;
};

ConstantConfig constant_config(const Tensor& constant) {
  if (constant.is_ragged()) throw cannot_be_told("has a ragged constant", "expected dense ones. Make it an input.");
  const Shape shape = constant.shape();
  if (shape.count().value() > most_elements) {
    throw cannot_be_told(fmt::format("has a constant of {} elements", shape.count().value()),
                         fmt::format("expected at most {}. Make it a weight of a layer of your own.", most_elements).c_str());
  }
  ConstantConfig config{.dtype = constant.dtype(), .weak = constant.impl()->weak};
  for (const Dim& size : shape) config.shape.push_back(size.value());
  const Tensor flat = reshape(constant, {-1});
  if (is_floating(constant.dtype())) {
    for (const double value : cast(flat, Dtype::f64).to_vector<double>()) config.values.emplace_back(value);
  } else {
    for (const int64_t value : cast(flat, Dtype::i64).to_vector<int64_t>()) config.values.emplace_back(value);
  }
  return config;
}

Tensor constant_from(const ConstantConfig& config, const std::string& place) {
  int64_t count = 1;
  for (const int64_t size : config.shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) count = -1;
    if (count < 0) break;
  }
  if (count != static_cast<int64_t>(config.values.size())) {
    throw ArgumentError(fmt::format("{}: {} values; expected as many as the shape says.", place, config.values.size()));
  }
  std::vector<Dim> sizes(config.shape.begin(), config.shape.end());
  if (is_floating(config.dtype)) {
    const auto values = detail::from_config<std::vector<double>>(Config(config.values), place);
    if (config.weak && values.size() == 1 && sizes.empty()) return Tensor(values[0]);
    return cast(tensor(values, Shape(sizes)), config.dtype);
  }
  const auto values = detail::from_config<std::vector<int64_t>>(Config(config.values), place);
  if (config.weak && values.size() == 1 && sizes.empty()) return Tensor(values[0]);
  return cast(tensor(values, Shape(sizes)), config.dtype);
}

InputConfig input_config(const TensorSpec& spec, SizeNames& names) {
  InputConfig config{.name = spec.name, .dtype = spec.dtype};
  for (int axis = 0; axis < spec.shape.rank(); ++axis) {
    const Dim& size = spec.shape[axis];
    const Symbol* const symbol = size.is_constant() || size.is_ragged() ? nullptr : as_symbol(size);
    const std::string name = symbol == nullptr ? "" : names.add(*symbol);
    if (axis == 0) continue;  // rows
    if (size.is_ragged()) config.ragged = true;
    if (size.is_ragged() || is_open_size(size, axis)) {
      config.sizes.emplace_back();
    } else if (size.is_constant()) {
      config.sizes.emplace_back(size.value());
    } else if (symbol != nullptr) {
      const DimOptions& options = symbol->options;
      config.sizes.push_back(detail::to_config(SizeConfig{name, options.min, options.max, options.multiple_of}));
    } else {
      throw cannot_be_told(fmt::format("has an input of size {}", to_string(size)), "expected numbers and names.");
    }
  }
  return config;
}

// Inputs and their sizes, made again.
class InputMaker {
 public:
  Tensor make(const InputConfig& config, const std::string& place) {
    Shape row;
    for (const Config& each : config.sizes) {
      if (each.is_null()) {
        row.push_back(dynamic);
      } else if (each.kind() == Config::Kind::Integer) {
        row.push_back(detail::integer_from(each, place, 0, INT64_MAX));
      } else {
        row.push_back(size(detail::from_config<SizeConfig>(each, place)));
      }
    }
    const Tensor made = input(row, {.name = config.name, .dtype = config.dtype, .ragged = config.ragged});
    for (int axis = 0; axis < made.rank(); ++axis) {
      const Dim size = made.shape()[axis];
      const Symbol* const symbol = size.is_constant() || size.is_ragged() ? nullptr : as_symbol(size);
      if (symbol != nullptr) by_name_.emplace(names_.add(*symbol), size);
    }
    return made;
  }
  Dim lookup(std::string_view name) const {
    const auto found = by_name_.find(std::string(name));
    if (found != by_name_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& each : by_name_) known.push_back(each.first);
    throw ArgumentError("Functional: " + unknown_name("size of the inputs", name, known));
  }

 private:
  Dim size(const SizeConfig& config) {
    const auto found = given_.find(config.name);
    if (found != given_.end()) return found->second;
    return given_.emplace(config.name, dim(config.name, {.min = config.min, .max = config.max, .multiple_of = config.multiple_of}))
        .first->second;
  }
  std::map<std::string, Dim> given_, by_name_;
  SizeNames names_;
};

Config config_of(const void* object) {
  const auto& network = static_cast<const FunctionalNetwork&>(*static_cast<const Layer*>(object));
  const LayerState& state = network.state();
  FunctionalArguments arguments;
  SizeNames names;
  for (const TensorSpec& spec : network.input_specs()) arguments.inputs.push_back(input_config(spec, names));
  for (size_t i = 0; i < state.children.size(); ++i) arguments.layers.push_back(child_config(state, i));
  for (const Tensor& constant : network.constant_values()) arguments.constants.push_back(constant_config(constant));
  for (const FunctionalNetwork::Step& step : network.steps()) {
    StepConfig config{.inputs = {step.inputs.begin(), step.inputs.end()},
                      .training = step.options.training,
                      .use_causal_mask = step.options.use_causal_mask,
                      .return_state = step.options.return_state,
                      .return_attention_scores = step.options.return_attention_scores};
    if (step.layer.defined()) {
      const auto found = std::ranges::find_if(state.children, [&](const AnyLayer& child) { return child.layer() == step.layer.layer(); });
      config.layer = found - state.children.begin();
    } else {
      config.op = step.op->name;
      AttributeWriter writer(names, step.op->name);
      step.attrs.visit(writer);
      config.attributes = writer.config();
    }
    arguments.steps.push_back(std::move(config));
  }
  arguments.outputs = {network.output_values().begin(), network.output_values().end()};
  return detail::made_from("Functional", arguments, FunctionalOptionFields{network.output_names(), state.is_named ? state.name : ""})
      ->config();
}

// A step of constants alone would be computed here, whatever its attributes say of its size; in a model it is a constant itself.
void require_described(const std::string& place, const std::vector<Tensor>& operands, const Attrs& attrs) {
  bool has_open_size = std::ranges::any_of(operands, is_placeholder);
  static_cast<void>(attrs.map_dims([&](const Dim& size) {
    has_open_size = has_open_size || !size.is_constant();
    return size;
  }));
  if (!has_open_size)
    throw ArgumentError(fmt::format("{}: nothing in it depends on an input of the model; expected a constant, or an input.", place));
}

std::vector<Tensor> step_results(const StepConfig& step, const std::string& place, std::span<const AnyLayer> layers,
                                 const std::vector<Tensor>& operands, const SymbolLookup& lookup) {
  if (step.layer) {
    if (*step.layer < 0 || *step.layer >= static_cast<int64_t>(layers.size()))
      throw ArgumentError(fmt::format("{}: layer is {}; expected the number of one of {} layers.", place, *step.layer, layers.size()));
    require_described(place, operands, {});
    const AnyLayer& layer = layers[static_cast<size_t>(*step.layer)];
    const LayerCallOptions options{.training = step.training,
                                   .use_causal_mask = step.use_causal_mask,
                                   .return_state = step.return_state,
                                   .return_attention_scores = step.return_attention_scores};
    return layer.outputs(operands, options).tensors();
  }
  const OpDef* const op = find_op(step.op);
  if (op == nullptr) {
    std::vector<std::string> known;
    for (const OpDef* each : all_ops()) known.emplace_back(each->name);
    throw ArgumentError(fmt::format("{}: {} Of a layer give the number.", place, unknown_name("op", step.op, known)));
  }
  const Config given = step.attributes.is_null() ? Config::map({}) : step.attributes;
  AttributeReader reader(given, lookup, place);
  const Attrs attrs = op->attrs == nullptr ? Attrs() : op->attrs().rewritten(reader);
  reader.require_all_known();
  require_described(place, operands, attrs);
  return bind_all(*op, operands, attrs);
}

AnyLayer make_functional(FunctionalArguments arguments, FunctionalOptionFields options) {
  InputMaker maker;
  std::vector<Tensor> values;
  for (size_t i = 0; i < arguments.inputs.size(); ++i)
    values.push_back(maker.make(arguments.inputs[i], fmt::format("Functional: inputs[{}]", i)));
  const std::vector<Tensor> inputs = values;
  for (size_t i = 0; i < arguments.constants.size(); ++i)
    values.push_back(constant_from(arguments.constants[i], fmt::format("Functional: constants[{}]", i)));
  std::vector<AnyLayer> layers;
  for (const Config& each : arguments.layers)
    layers.push_back(detail::from_config<AnyLayer>(each, fmt::format("Functional: layers[{}]", layers.size())));
  const auto picked = [&](const std::vector<int64_t>& numbers, const std::string& place) {
    std::vector<Tensor> tensors;
    for (const int64_t number : numbers) {
      if (number < 0 || number >= static_cast<int64_t>(values.size()))
        throw ArgumentError(fmt::format("{}: value {} of {}; expected one that is there before it.", place, number, values.size()));
      tensors.push_back(values[static_cast<size_t>(number)]);
    }
    return tensors;
  };
  const SymbolLookup lookup = [&](std::string_view name) { return maker.lookup(name); };
  for (size_t i = 0; i < arguments.steps.size(); ++i) {
    const std::string place = fmt::format("Functional: steps[{}]", i);
    for (Tensor& result : step_results(arguments.steps[i], place, layers, picked(arguments.steps[i].inputs, place), lookup))
      values.push_back(std::move(result));
  }
  if (!options.output_names.empty() && options.output_names.size() != arguments.outputs.size()) {
    throw ArgumentError(fmt::format("Functional: {} output_names for {} outputs; expected one for each, or none.",
                                    options.output_names.size(), arguments.outputs.size()));
  }
  std::vector<ForOutput<Tensor>> outputs;
  for (const Tensor& output : picked(arguments.outputs, "Functional: outputs"))
    outputs.emplace_back(options.output_names.empty() ? "" : options.output_names[outputs.size()], output);
  AnyLayer made = layer(FunctionalNetwork(inputs, PerOutput<Tensor>(std::move(outputs))));
  made.layer()->state().name = "model";
  if (!options.name.empty()) give_name(made, options.name);
  return made;
}

}  // namespace

detail::RegistryEntry functional_entry() { return network_entry<FunctionalNetwork>("Functional", make_functional, config_of); }

}  // namespace anyshape::nn
