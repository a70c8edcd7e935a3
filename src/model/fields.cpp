// Names to places.
#include "model/fields.h"

#include "base/near_names.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::model {
namespace {

const nn::FunctionalNetwork* as_functional(const AnyLayer& network) {
  return dynamic_cast<const nn::FunctionalNetwork*>(network.layer().get());
}

}  // namespace

std::vector<std::string> input_names(const AnyLayer& network) {
  std::vector<std::string> names;
  if (const nn::FunctionalNetwork* functional = as_functional(network)) {
    for (const TensorSpec& spec : functional->input_specs()) names.push_back(spec.name);
  }
  return names;
}

std::vector<std::string> output_names(const AnyLayer& network) {
  const nn::FunctionalNetwork* functional = as_functional(network);
  return functional == nullptr ? std::vector<std::string>() : functional->output_names();
}

std::vector<Tensor> ordered_fields(const char* what, const char* kind, const Data& data, const std::vector<std::string>& names) {
  const std::vector<Data::Field>& fields = data.fields();
  std::vector<Tensor> tensors(fields.size());
  if (!names.empty() && fields.size() != names.size()) {
    throw ArgumentError(
        fmt::format("{}: {} {}{} given; expected {}.", what, fields.size(), kind, fields.size() == 1 ? " is" : "s are", names.size()));
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    size_t place = i;
    if (!fields[i].name.empty() && !names.empty()) {
      place = static_cast<size_t>(std::ranges::find(names, fields[i].name) - names.begin());
      if (place == names.size()) throw ArgumentError(fmt::format("{}: {}", what, unknown_name(kind, fields[i].name, names)));
    }
    if (tensors[place].defined())
      throw ArgumentError(fmt::format("{}: the {} \"{}\" is given twice; expected each once.", what, kind, fields[i].name));
    tensors[place] = fields[i].tensor;
  }
  return tensors;
}

}  // namespace anyshape::model
