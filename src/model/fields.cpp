// Names to indices.
#include "model/fields.h"

#include "base/near_names.h"
#include "nn/declared_inputs.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace anyshape::model {

std::vector<std::string> input_names(const AnyLayer& network) {
  std::vector<std::string> names;
  for (const TensorSpec& spec : network.layer()->input_specs()) names.push_back(spec.name);
  return names;
}

std::vector<Tensor> ordered_fields(const char* what, const char* kind, const Data& data, const std::vector<std::string>& names) {
  const std::vector<Data::Field>& fields = data.fields();
  std::vector<Tensor> tensors(fields.size());
  if (!names.empty() && fields.size() != names.size()) {
    for (const Data::Field& field : fields) {
      if (field.name.empty() || std::ranges::find(names, field.name) != names.end()) continue;
      throw ArgumentError(fmt::format("{}: {}", what, unknown_name(kind, field.name, names)));
    }
    const bool is_named = std::ranges::find(names, "") == names.end();
    throw ArgumentError(fmt::format("{}: {} {}{} given; expected {}{}.", what, fields.size(), kind, fields.size() == 1 ? " is" : "s are",
                                    names.size(), is_named ? fmt::format(": {}", fmt::join(names, ", ")) : ""));
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    size_t index = i;
    if (!fields[i].name.empty() && !names.empty()) {
      index = static_cast<size_t>(std::ranges::find(names, fields[i].name) - names.begin());
      if (index == names.size()) throw ArgumentError(fmt::format("{}: {}", what, unknown_name(kind, fields[i].name, names)));
    }
    if (tensors[index].defined())
      throw ArgumentError(fmt::format("{}: the {} \"{}\" is given twice; expected each once.", what, kind, fields[i].name));
    if (!fields[i].rows.empty()) {
      throw DataError(fmt::format(
          "{}: the {} has rows of several shapes; expected one tensor. Group them by shape with group_by_shape(size).", what, kind));
    }
    tensors[index] = fields[i].tensor;
  }
  return tensors;
}

std::vector<std::string> named_fields(const char* what, const char* kind, const Data& data, const std::vector<std::string>& names) {
  const auto has = [&](const std::string& name) {
    return std::ranges::any_of(data.fields(), [&](const Data::Field& field) { return field.name == name; });
  };
  if (names.empty() || !data.defined()) return {};
  if (has("")) return data.fields().size() == names.size() ? names : std::vector<std::string>();
  for (const Data::Field& field : data.fields()) {
    if (std::ranges::find(names, field.name) == names.end())
      throw ArgumentError(fmt::format("{}: {}", what, unknown_name(kind, field.name, names)));
  }
  std::vector<std::string> some;
  std::ranges::copy_if(names, std::back_inserter(some), has);
  return some;
}

std::vector<Tensor> ordered_weights(const char* what, const Data& weights, const std::vector<std::string>& outputs) {
  const std::vector<Data::Field>& fields = weights.fields();
  if (fields.size() == 1 && fields[0].name.empty()) return {fields[0].tensor};
  const bool is_by_name = std::ranges::any_of(fields, [](const Data::Field& field) { return !field.name.empty(); });
  if (is_by_name && outputs.empty()) {
    throw ArgumentError(fmt::format(
        "{}: sample_weight names the output \"{}\", and the model has no names for its outputs; expected one tensor. A model of "
        "your own names them by output_names().",
        what, fields[0].name));
  }
  std::vector<Data::Field> all = fields;
  for (const std::string& name : outputs) {  // what is not named counts as it is
    if (!is_by_name || std::ranges::any_of(fields, [&](const Data::Field& field) { return field.name == name; })) continue;
    all.push_back({.name = name, .tensor = ones({fields[0].tensor.shape()[0]})});
  }
  for (const Data::Field& field : fields) {
    if (!is_by_name || std::ranges::find(outputs, field.name) != outputs.end()) continue;
    throw ArgumentError(fmt::format("{}: sample_weight: {}", what, unknown_name("output", field.name, outputs)));
  }
  return ordered_fields(what, "sample weight", Data(std::move(all)), outputs);
}

std::vector<Tensor> model_inputs(const AnyLayer& network, std::vector<Tensor> inputs) {
  const std::vector<TensorSpec> declared = network.layer()->input_specs();
  if (!declared.empty() && declared.size() == inputs.size()) return nn::held_inputs(network.name(), declared, inputs);
  if (!is_floating(network.layer()->input_dtype())) return inputs;
  for (Tensor& input : inputs) {
    if (input.rank() == 1) input = expand_dims(input, 1);
  }
  return inputs;
}

}  // namespace anyshape::model
