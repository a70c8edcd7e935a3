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

// The inputs with what may vary left open: the rows, and where `open_time` the axis behind them.
std::vector<TensorSpec> open_inputs(const AnyLayer& model, bool open_time) {
  if (const auto* const functional = dynamic_cast<const nn::FunctionalNetwork*>(model.layer().get())) return functional->input_specs();
  std::vector<TensorSpec> inputs;
  for (const TensorSpec& built_on : model.layer()->state().built_on) {
    Shape shape;
    for (int axis = 0; axis < built_on.shape.rank(); ++axis) {
      const Dim& size = built_on.shape[axis];
      const bool is_time = axis == 1 && (built_on.shape.rank() > 2 || is_integer(built_on.dtype));
      const bool is_open = axis == 0 || (is_time && open_time) || !size.is_constant();
      shape.push_back(size.is_ragged() ? ragged_dim("time") : is_open ? dynamic : size);
    }
    inputs.push_back({built_on.dtype, nn::with_open_sizes(shape), {}});
  }
  return inputs;
}

// The result of every layer; nothing where the model is not built.
std::map<const Layer*, TensorSpec> results_of(const AnyLayer& model) {
  std::map<const Layer*, TensorSpec> results;
  if (!model.is_built()) return results;
  for (const bool open_time : {true, false}) {
    try {
      const nn::DescribedCalls described = nn::described_calls(model, open_inputs(model, open_time));
      if (open_time && !described.is_general) continue;  // a layer inside needs the size behind the rows
      for (const nn::DescribedCall& call : described.calls) results[call.layer] = call.result;
      return results;
    } catch (const Error&) {
      continue;  // it refuses the size that the description tried
    }
  }
  return results;
}

using Row = std::array<std::string, 4>;  // layer, result, parameters, from

class Table {
 public:
  explicit Table(const AnyLayer& model) : results_(results_of(model)) {
    rows_.push_back({"layer", "result", "parameters", "from"});
    if (const auto* const functional = dynamic_cast<const nn::FunctionalNetwork*>(model.layer().get())) note_sources(*functional);
    add_children(model, 0);
  }

  std::string text() const {
    std::array<size_t, 4> widths{};
    for (const Row& row : rows_) {
      for (size_t column = 0; column < widths.size(); ++column) widths[column] = std::max(widths[column], row[column].size());
    }
    const bool has_sources = std::ranges::any_of(rows_.begin() + 1, rows_.end(), [](const Row& row) { return !row[3].empty(); });
    std::string text;
    const std::string line(widths[0] + widths[1] + widths[2] + 6 + (has_sources ? widths[3] + 3 : 0), '-');
    for (const Row& row : rows_) {
      std::string cells = fmt::format("{:<{}}   {:<{}}   {:>{}}", row[0], widths[0], row[1], widths[1], row[2], widths[2]);
      if (has_sources && !row[3].empty()) cells += "   " + row[3];
      cells.erase(cells.find_last_not_of(' ') + 1);
      text += cells + "\n";
      if (&row == &rows_.front()) text += line + "\n";
    }
    return text + line + "\n";
  }

 private:
  // Inputs as rows of their own, and what each layer is called on where that is not simply the row before.
  void note_sources(const nn::FunctionalNetwork& network) {
    std::vector<std::string> values;
    for (const TensorSpec& input : network.input_specs()) {
      values.push_back(input.name.empty() ? fmt::format("input_{}", values.size()) : input.name);
      rows_.push_back({values.back() + " (input)", to_string(input.shape), "", ""});
    }
    values.resize(values.size() + network.constants(), "constant");
    std::string before = values.front();
    bool is_chain = network.input_specs().size() == 1;
    for (const nn::FunctionalNetwork::Step& step : network.steps()) {
      const std::string own = step.layer.defined() ? step.layer.name() : std::string(step.op->name);
      std::vector<std::string> from;
      for (const int input : step.inputs) from.push_back(values[static_cast<size_t>(input)]);
      is_chain = is_chain && from.size() == 1 && from[0] == before;
      if (step.layer.defined()) {
        std::string& sources = sources_[step.layer.layer().get()];
        sources += fmt::format("{}{}", sources.empty() ? "" : "; ", fmt::join(from, ", "));
      }
      values.insert(values.end(), step.results.size(), own);
      before = own;
    }
    if (is_chain) sources_.clear();
  }

  void add_children(const AnyLayer& layer, size_t depth) {
    for (const AnyLayer& child : layer.children()) {
      const auto result = results_.find(child.layer().get());
      const auto source = sources_.find(child.layer().get());
      rows_.push_back({fmt::format("{}{} ({})", std::string(2 * depth, ' '), child.name(), child.type()),
                       result == results_.end() ? "?" : to_string(result->second.shape),
                       child.is_built() ? fmt::format("{}", child.parameter_count()) : "?",
                       source == sources_.end() ? "" : source->second});
      add_children(child, depth + 1);
    }
  }

  std::map<const Layer*, TensorSpec> results_;
  std::map<const Layer*, std::string> sources_;
  std::vector<Row> rows_;
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
