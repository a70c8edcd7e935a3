// summary(): a model's layers as a table, with sizes that are open by name.
#include "model/model_state.h"
#include "nn/describe_call.h"

#include <anyshape/error.h>
#include <anyshape/ragged.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

namespace anyshape {
namespace {

// The inputs with what may vary left open: the rows, and so many axes behind them, but for the last.
std::vector<TensorSpec> open_inputs(const AnyLayer& model, int open_axes) {
  std::vector<TensorSpec> inputs = model.layer()->input_specs();
  if (!inputs.empty()) return inputs;
  for (const TensorSpec& built_on : model.layer()->state().built_on) {
    Shape shape;
    for (int axis = 0; axis < built_on.shape.rank(); ++axis) {
      const Dim& size = built_on.shape[axis];
      const bool may_vary = axis + 1 < built_on.shape.rank() || (axis == 1 && is_integer(built_on.dtype));
      const bool is_open = axis == 0 || (may_vary && axis <= open_axes) || !size.is_constant();
      shape.push_back(size.is_ragged() ? ragged_dim("time") : is_open ? dynamic : size);
    }
    inputs.push_back({built_on.dtype, nn::with_open_sizes(shape), {}});
  }
  return inputs;
}

using Results = std::map<const Layer*, std::vector<TensorSpec>>;

// The results of every layer; nothing where the model is not built.
Results results_of(const AnyLayer& model) {
  Results results;
  if (!model.is_built()) return results;
  for (const int open_axes : {3, 1, 0}) {  // those of images and volumes, time, none
    try {
      const nn::DescribedCalls described = nn::described_calls(model, open_inputs(model, open_axes));
      if (open_axes > 0 && !described.is_general) continue;  // a layer inside needs the size behind the rows
      for (const nn::DescribedCall& call : described.calls) results[call.layer] = call.results;
      return results;
    } catch (const Error&) {
      continue;  // it refuses the size that the description tried
    }
  }
  return results;
}

using Line = std::array<std::string, 4>;  // layer, result, parameters, from

class Table {
 public:
  explicit Table(const AnyLayer& model) : results_(results_of(model)) {
    lines_.push_back({"layer", "result", "parameters", "from"});
    const Layer& network = *model.layer();
    const std::vector<std::string> sources = network.sources(), outputs = network.output_names();
    if (!sources.empty()) add_inputs(network.input_specs());
    add_children(model, 0, sources);
    if (outputs.size() > 1) add_outputs(network, outputs, sources);
  }

  std::string text() const {
    std::array<size_t, 4> widths{};
    for (const Line& line : lines_) {
      for (size_t column = 0; column < widths.size(); ++column) widths[column] = std::max(widths[column], line[column].size());
    }
    const bool has_sources = std::ranges::any_of(lines_.begin() + 1, lines_.end(), [](const Line& line) { return !line[3].empty(); });
    std::string text;
    const std::string rule(widths[0] + widths[1] + widths[2] + 6 + (has_sources ? widths[3] + 3 : 0), '-');
    for (const Line& line : lines_) {
      std::string cells = fmt::format("{:<{}}   {:<{}}   {:>{}}", line[0], widths[0], line[1], widths[1], line[2], widths[2]);
      if (has_sources && !line[3].empty()) cells += "   " + line[3];
      cells.erase(cells.find_last_not_of(' ') + 1);
      text += cells + "\n";
      if (&line == &lines_.front()) text += rule + "\n";
    }
    return text + rule + "\n";
  }

 private:
  void add_inputs(const std::vector<TensorSpec>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string name = inputs[i].name.empty() ? fmt::format("input_{}", i) : inputs[i].name;
      lines_.push_back({name + " (input)", to_string(inputs[i].shape), "", ""});
    }
  }

  std::string shapes_of(const Layer& layer) const {
    const auto found = results_.find(&layer);
    if (found == results_.end()) return "?";
    std::vector<std::string> shapes;
    for (const TensorSpec& result : found->second) shapes.push_back(to_string(result.shape));
    return fmt::format("{}", fmt::join(shapes, ", "));
  }

  // `sources`: what each child is called on, where that is not simply the line before; none where only the call tells.
  void add_children(const AnyLayer& layer, size_t depth, const std::vector<std::string>& sources) {
    const LayerState& state = layer.layer()->state();
    for (size_t i = 0; i < state.children.size(); ++i) {
      const AnyLayer& child = state.children[i];
      lines_.push_back({fmt::format("{}{} ({})", std::string(2 * depth, ' '), state.child_names[i], child.type()),
                        shapes_of(*child.layer()), child.is_built() ? fmt::format("{}", child.parameter_count()) : "?",
                        i < sources.size() ? sources[i] : ""});
      add_children(child, depth + 1, {});
    }
  }

  void add_outputs(const Layer& network, const std::vector<std::string>& names, const std::vector<std::string>& sources) {
    const auto found = results_.find(&network);
    const size_t children = network.state().children.size();
    for (size_t i = 0; i < names.size(); ++i) {
      const bool is_known = found != results_.end() && i < found->second.size();
      lines_.push_back({names[i] + " (output)", is_known ? to_string(found->second[i].shape) : "?", "",
                        children + i < sources.size() ? sources[children + i] : ""});
    }
  }

  Results results_;
  std::vector<Line> lines_;
};

int64_t bytes_of(const std::vector<Variable>& variables) {
  int64_t bytes = 0;
  for (const Variable& variable : variables) bytes += variable.shape().count().value() * size_of(variable.dtype());
  return bytes;
}

}  // namespace

std::string Model::summary() const {
  std::string text = fmt::format("{} ({})\n{}", name(), type(), Table(*this).text());
  if (!is_built()) return text + "Not built yet: sizes and parameters are known after build(input shape), a call, or fit.\n";
  int64_t trained = 0;
  for (const Variable& variable : trainable_variables()) trained += variable.shape().count().value();
  const int64_t total = parameter_count();
  return text + fmt::format("{} parameters, {} bytes; {} of them trainable\n", total, bytes_of(variables()), trained);
}

}  // namespace anyshape
