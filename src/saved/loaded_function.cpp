// The handle on a function from a file.
#include "base/near_names.h"
#include "function/function_state.h"
#include "saved/replay_call.h"
#include "saved/saved_function.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

using detail::structure::Part;
using function_detail::SavedTrace;

// "x" of "argument 1 (x)", "result0" of "result".
std::string name_of(const std::string& place, const std::string& number) {
  const size_t begin = place.find(" ("), end = place.rfind(')');
  if (begin != std::string::npos && end != std::string::npos && end > begin + 2) return place.substr(begin + 2, end - begin - 2);
  return number;
}

std::vector<TensorSpec> named(std::vector<TensorSpec> specs, std::span<const std::string> places, std::string_view word) {
  for (size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].name.empty()) specs[i].name = name_of(i < places.size() ? places[i] : std::string(), fmt::format("{}{}", word, i));
  }
  return specs;
}

const SavedTrace& trace_with(const detail::SavedFunction& function, const std::string& values) {
  const auto found = std::ranges::find(*function.traces, values, &SavedTrace::key);
  return found == function.traces->end() ? function.traces->front() : *found;
}

std::string quoted_names(const std::vector<TensorSpec>& specs) {
  std::string text;
  for (const TensorSpec& spec : specs) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", spec.name);
  return text.empty() ? "none" : text;
}

}  // namespace

std::string saved::words_of(std::span<const ArgumentPart> parts) {
  std::string words;
  for (const ArgumentPart& part : parts) {
    if (part.role != ArgumentRole::Object) words += fmt::format("{}{} = {}", words.empty() ? "" : ", ", part.name, part.value);
  }
  return words;
}

LoadedFunction::LoadedFunction(std::shared_ptr<const detail::SavedFunction> state, std::string values)
    : state_(std::move(state)), values_(std::move(values)) {}

std::vector<Tensor> LoadedFunction::run(std::vector<Tensor> tensors, const std::string& values) const {
  const saved::ReplayCall call(*state_, values);
  return state_->core->call(std::move(tensors), values, call).tensors;
}

std::vector<Tensor> LoadedFunction::operator()(std::vector<Tensor> arguments) const { return run(std::move(arguments), values_); }

std::vector<Tensor> LoadedFunction::call(const std::map<std::string, Tensor>& arguments) const {
  const std::vector<TensorSpec> specs = inputs();
  std::vector<Tensor> tensors;
  std::vector<std::string> names;
  for (const TensorSpec& spec : specs) {
    names.push_back(spec.name);
    const auto found = arguments.find(spec.name);
    if (found == arguments.end()) {
      throw ArgumentError(
          fmt::format("function \"{}\": the argument \"{}\" is missing; expected {}.", name(), spec.name, quoted_names(specs)));
    }
    tensors.push_back(found->second);
  }
  for (const auto& each : arguments) {
    if (std::ranges::find(names, each.first) == names.end())
      throw ArgumentError(fmt::format("function \"{}\": {}", name(), unknown_name("argument", each.first, names)));
  }
  return run(std::move(tensors), values_);
}

std::vector<TensorSpec> LoadedFunction::inputs() const {
  const SavedTrace& trace = trace_with(*state_, values_);
  return named(trace.signature.specs(), trace.arguments, "argument");
}

std::vector<TensorSpec> LoadedFunction::outputs() const {
  const SavedTrace& saved = trace_with(*state_, values_);
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < saved.trace.results; ++i) specs.push_back(saved.trace.graph->outputs[i]->spec);
  specs = saved.trace.ragged.specs(std::move(specs));
  for (TensorSpec& spec : specs) spec.name.clear();
  return named(std::move(specs), saved.results, "result");
}

std::vector<std::string> LoadedFunction::traces() const {
  std::vector<std::string> texts;
  for (const SavedTrace& trace : *state_->traces) texts.push_back(trace.to_string());
  return texts;
}

std::vector<Variable> LoadedFunction::variables() const { return state_->variables; }

Variable LoadedFunction::variable(std::string_view name) const {
  std::vector<std::string> names;
  for (const Variable& variable : state_->variables) {
    if (variable.name() == name) return variable;
    names.push_back(variable.name());
  }
  if (names.empty()) throw ArgumentError(fmt::format("function \"{}\" has no variables; \"{}\" is asked for.", this->name(), name));
  throw ArgumentError(fmt::format("function \"{}\": {}", this->name(), unknown_name("variable", name, names)));
}

LoadedFunction LoadedFunction::with(const std::map<std::string, std::string>& values) const {
  for (const SavedTrace& trace : *state_->traces) {
    const bool has_all = std::ranges::all_of(values, [&](const auto& wanted) {
      return std::ranges::any_of(trace.values, [&](const ArgumentPart& part) {
        return (part.name == wanted.first || name_of(part.name, "") == wanted.first) && part.value == wanted.second;
      });
    });
    if (has_all) return {state_, trace.key};
  }
  std::string wanted;
  for (const auto& each : values) wanted += fmt::format("{}{} = {}", wanted.empty() ? "" : ", ", each.first, each.second);
  throw ArgumentError(fmt::format("function \"{}\": no trace of its file has {}; expected values of one of them. The file has:{}", name(),
                                  wanted, function_detail::list_of(*state_->traces)));
}

std::string LoadedFunction::words_of(std::span<const Part> parts) { return saved::words_of(parts); }

void LoadedFunction::refuse_results(size_t expected, size_t given) const {
  throw ArgumentError(
      fmt::format("function \"{}\": its trace gives {} tensors and the results of as<...>() hold {}; expected equal numbers. "
                  "A std::vector<Tensor> holds any.",
                  name(), given, expected));
}

const std::string& LoadedFunction::name() const { return state_->core->state().options.name; }
FunctionStats LoadedFunction::stats() const { return state_->core->stats(); }
Ledger LoadedFunction::ledger() const { return state_->core->ledger(); }
std::string LoadedFunction::explain(const ExplainOptions& options) const { return state_->core->explain(options); }

}  // namespace anyshape
