// Everything is found, turned and held to the weights before the first of them changes.
#include "model/weights/load.h"

#include "base/cut_text.h"
#include "io/safetensors.h"
#include "model/model_file.h"
#include "model/weights/places.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>
#include <anyshape/spec.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace anyshape::model {
namespace {

using Stored = std::map<std::string, Tensor>;

std::string described(const Tensor& tensor) { return to_string(TensorSpec{tensor.dtype(), tensor.shape(), {}}); }
std::string described(const Variable& variable) { return to_string(TensorSpec{variable.dtype(), variable.shape(), {}}); }

bool has_sizes(const Tensor& tensor, const Sizes& sizes) {
  const Shape shape = tensor.shape();
  if (static_cast<size_t>(shape.rank()) != sizes.size()) return false;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis].value() != sizes[static_cast<size_t>(axis)]) return false;
  }
  return true;
}

class Load {
 public:
  Load(const Stored& stored, const LoadOptions& options) : stored_(stored), is_torch_(options.layout == WeightLayout::PyTorch) {}

  void take(const Match& match) {
    std::vector<Tensor> sources;
    std::vector<std::string> missing;
    for (const std::string& name : match.tensors) {
      const auto found = stored_.find(name);
      if (found == stored_.end()) {
        missing.push_back(name);
      } else {
        used_.insert(name);
        sources.push_back(found->second);
      }
    }
    if (!missing.empty()) {
      // A weight that is looked for under its own name is named once.
      const bool is_own_name = missing.size() == 1 && missing[0] == match.path;
      report.missing.push_back(is_own_name ? match.path : fmt::format("{} (as {})", match.path, fmt::join(missing, " and ")));
      return;
    }
    for (size_t i = 0; i < sources.size(); ++i) {
      if (!fits(match, i, sources[i])) return;
    }
    if (!match.problem.empty()) {
      report.mismatched.push_back(fmt::format("{} {}", shortened(match.path), match.problem));
      return;
    }
    std::string from;
    for (Tensor& source : sources) {
      if (source.dtype() == match.variable.dtype()) continue;
      from = to_string(source.dtype());
      source = converted(match, source);
      if (!source.defined()) return;
    }
    if (!from.empty()) report.converted.push_back(fmt::format("{} from {}", match.path, from));
    report.matched.push_back(fmt::format("{} from {}", match.path, fmt::join(match.tensors, " and ")));
    values_.emplace_back(match.variable, match.rule.turn ? match.rule.turn(sources) : sources[0]);
  }

  void note_unexpected() {
    for (const auto& each : stored_) {
      // Counted by PyTorch's batch normalisation, and used by nothing.
      const bool is_count = is_torch_ && (each.first == "num_batches_tracked" || each.first.ends_with(".num_batches_tracked"));
      if (!is_count && !used_.contains(each.first)) report.unexpected.push_back(each.first);
    }
  }

  void assign() const {
    for (const auto& [variable, value] : values_) variable.assign(value);
  }

  LoadReport report;

 private:
  bool fits(const Match& match, size_t index, const Tensor& source) {
    const Source& wanted = match.rule.sources[index];
    const Dtype own = match.variable.dtype();
    const bool can_convert = source.dtype() == own || (is_floating(source.dtype()) && is_floating(own));
    if (can_convert && has_sizes(source, wanted.sizes)) return true;
    if (!can_convert || match.rule.says.empty()) {
      report.mismatched.push_back(
          fmt::format("{} is {} in the file, {} in the model", shortened(match.path), described(source), described(match.variable)));
    } else {
      report.mismatched.push_back(fmt::format("{} is {} in the model, and {} is {} in the file where {} is expected, as {}",
                                              shortened(match.path), described(match.variable), shortened(match.tensors[index]),
                                              described(source), to_text(wanted.sizes), match.rule.says));
    }
    return false;
  }

  // Undefined where a finite number of the source would become infinite.
  Tensor converted(const Match& match, const Tensor& source) {
    const Tensor value = cast(source, match.variable.dtype());
    const bool may_overflow = source.dtype() == Dtype::f64 || match.variable.dtype() == Dtype::f16 || source.dtype() == Dtype::f32;
    if (may_overflow && any(logical_and(is_finite(source), logical_not(is_finite(value)))).item<bool>()) {
      report.mismatched.push_back(fmt::format("{} is {} in the model, and the file's {} has numbers beyond what {} holds",
                                              shortened(match.path), described(match.variable), described(source),
                                              to_string(match.variable.dtype())));
      return {};
    }
    return value;
  }

  const Stored& stored_;
  bool is_torch_;
  std::unordered_set<std::string> used_;
  std::vector<std::pair<Variable, Tensor>> values_;
};

std::map<std::string, Place> ordered_places(const AnyLayer& network, const LoadOptions& options, const Stored& stored) {
  if (!options.match_by_order) return {};
  if (options.layout != WeightLayout::PyTorch || !options.names.entries().empty() || options.names.callable()) {
    throw ArgumentError(
        fmt::format("load_weights: .match_by_order is given with {}; expected WeightLayout::PyTorch and no names.",
                    options.layout != WeightLayout::PyTorch ? "WeightLayout::Keras, whose files have the layers' paths" : ".names"));
  }
  std::map<std::string, Sizes> sizes;
  for (const auto& [name, tensor] : stored) {
    if (name == "num_batches_tracked" || name.ends_with(".num_batches_tracked")) continue;
    Sizes& own = sizes[name];
    for (int axis = 0; axis < tensor.rank(); ++axis) own.push_back(tensor.shape()[axis].value());
  }
  return places_by_order(network, sizes);
}

// What to try next, where hardly anything was found.
std::string cure(const LoadReport& report, const LoadOptions& options) {
  const auto is_torch_name = [](const std::string& name) {
    return name.ends_with(".weight") || name.find(".weight_ih_l") != std::string::npos;
  };
  if (options.layout == WeightLayout::Keras && std::ranges::any_of(report.unexpected, is_torch_name)) {
    return " The file's names look like PyTorch's: load with .layout = as::WeightLayout::PyTorch.";
  }
  if (options.layout == WeightLayout::PyTorch && !report.missing.empty() && !report.unexpected.empty() && !options.match_by_order) {
    return " Say which module is which layer with .names, as {{\"encoder/dense\", \"encoder.fc1\"}}.";
  }
  return "";
}

}  // namespace

LoadReport load_weights(const AnyLayer& network, const std::filesystem::path& file, const LoadOptions& options) {
  Stored stored = io::load_safetensors(file);
  std::erase_if(stored, [](const auto& each) { return !is_weight(each.first); });  // what a whole model has beside its weights
  Load load(stored, options);
  const std::map<std::string, Place> places = ordered_places(network, options, stored);
  const std::function<bool(const std::string&)> is_there = [&](const std::string& name) { return stored.contains(name); };
  for (const Match& match : find_tensors(network, options, places, is_there)) load.take(match);
  load.note_unexpected();
  const LoadReport& report = load.report;
  if (options.strict && !(report.missing.empty() && report.unexpected.empty() && report.mismatched.empty())) {
    throw FormatError(fmt::format(
        "load_weights: \"{}\" does not fit the model: missing [{}], unexpected [{}], mismatched [{}]; expected the same "
        "weights. Load with .strict = false to take what fits.{}",
        file.string(), listed(report.missing), listed(report.unexpected), fmt::join(report.mismatched, "; "), cure(report, options)));
  }
  load.assign();
  return std::move(load.report);
}

}  // namespace anyshape::model
