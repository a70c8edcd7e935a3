// Options by position and by name, put in the order of the outputs. Names as in Keras: after the output where there are several; a weighted
// metric beside its plain one is "weighted_".
#include "model/compiled.h"

#include "base/near_names.h"
#include "base/option_rules.h"
#include "train/metric_state.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace anyshape::model {
namespace {

using Names = std::set<std::string>;

size_t index_of(const char* option, const std::string& name, const std::vector<std::string>& outputs) {
  const auto found = std::ranges::find(outputs, name);
  if (found != outputs.end()) return static_cast<size_t>(found - outputs.begin());
  if (outputs.size() == 1 && outputs[0].empty()) {
    throw ArgumentError(fmt::format(
        "compile: .{} names the output \"{}\", and the model has no names for its outputs; expected values by position. A model "
        "of your own names them by output_names().",
        option, name));
  }
  throw ArgumentError(fmt::format("compile: .{}: {}", option, unknown_name("output", name, outputs)));
}

// One value per output: by position one for each, by name those that are named; the others have `otherwise`.
template <class Value>
std::vector<Value> in_order(const char* option, const PerOutput<Value>& given, const std::vector<std::string>& outputs,
                            const Value& otherwise) {
  std::vector<Value> values(outputs.size(), otherwise);
  const auto named = std::ranges::count_if(given, [](const ForOutput<Value>& each) { return !each.output.empty(); });
  if (named != 0 && named != static_cast<std::ptrdiff_t>(given.size())) {
    throw ArgumentError(fmt::format("compile: .{} has values with names and without; expected names for all or for none.", option));
  }
  if (named == 0 && !given.empty() && given.size() != outputs.size()) {
    throw ArgumentError(fmt::format("compile: .{} has {} value{} for {} output{}; expected one per output.", option, given.size(),
                                    given.size() == 1 ? "" : "s", outputs.size(), outputs.size() == 1 ? "" : "s"));
  }
  std::vector<bool> is_given(outputs.size());
  size_t next = 0;
  for (const ForOutput<Value>& each : given) {
    const size_t index = named == 0 ? next++ : index_of(option, each.output, outputs);
    if (is_given[index]) {
      throw ArgumentError(fmt::format("compile: .{} names the output \"{}\" twice; expected each once.", option, each.output));
    }
    is_given[index] = true;
    values[index] = each.value;
  }
  return values;
}

// An output that .losses gives no loss, as {"scores", {}}, is not trained. One that is not named may have been forgotten.
void require_loss(const CompileOptions& options, const std::vector<Loss>& losses, const std::vector<std::string>& outputs) {
  if (options.step) return;
  if (std::ranges::none_of(losses, [](const Loss& loss) { return loss.defined(); })) {
    throw ArgumentError("compile: no loss is given; expected .loss, .losses or a .step of your own.");
  }
  for (size_t output = 0; output < outputs.size(); ++output) {
    const auto is_given = [&](const ForOutput<Loss>& each) { return each.output.empty() || each.output == outputs[output]; };
    if (losses[output].defined() || std::ranges::any_of(options.losses, is_given)) continue;
    throw ArgumentError(fmt::format(
        "compile: no loss is given for the output \"{0}\"; expected one per output. Name it in .losses, or give .loss for the others. "
        "{{\"{0}\", {{}}}} in .losses says that it is predicted and not trained.",
        outputs[output]));
  }
}

// What is given for an output by its name, and needs its target.
template <class Value>
void require_trained(const char* option, const PerOutput<Value>& given, const Compiled& model, const std::vector<std::string>& outputs) {
  for (const ForOutput<Value>& each : given) {
    if (std::ranges::find(model.outputs, each.output) != model.outputs.end()) continue;
    if (std::ranges::find(outputs, each.output) == outputs.end()) continue;  // index_of() says what is wrong
    throw ArgumentError(fmt::format("compile: .{} names the output \"{}\", which has no loss and so no target; expected one with a loss.",
                                    option, each.output));
  }
}

// Only what is trained has a target: the others are predicted, and that is all.
template <class Value>
std::vector<Value> chosen(const std::vector<Value>& all, const std::vector<size_t>& positions) {
  std::vector<Value> some;
  for (const size_t position : positions) some.push_back(all[position]);
  return some;
}

std::string numbered(const Names& taken, const std::string& name) {
  std::string own = name;
  for (int64_t number = 1; taken.contains(own); ++number) own = fmt::format("{}_{}", name, number);
  return own;
}

// Metrics are this model's: one object in two models would add up both.
void add_metrics(const char* option, const PerOutput<Metric>& metrics, bool weighted, Names& taken, Compiled& model) {
  const Names plain = taken;
  for (const auto& [name, metric] : metrics) {
    if (metric.result().rank() != 0) {
      throw ArgumentError(
          fmt::format("compile: the metric \"{}\" has several results; expected one number per epoch. Give it one threshold or an average, "
                      "or update it yourself.",
                      metric.name()));
    }
    const size_t first = name.empty() ? 0 : index_of(option, name, model.outputs), last = name.empty() ? model.outputs.size() - 1 : first;
    for (size_t output = first; output <= last; ++output) {
      const std::string prefix = model.outputs.size() > 1 ? model.outputs[output] + "_" : "";
      const bool has_plain = weighted && plain.contains(prefix + metric.name());
      const Metric own = metric.clone();
      own.metric()->state().name = numbered(taken, prefix + (has_plain ? "weighted_" : "") + metric.name());
      taken.insert(own.name());
      model.metrics.push_back({.metric = own, .output = output, .is_weighted = weighted});
    }
  }
}

}  // namespace

std::vector<std::string> Compiled::loss_names() const {
  std::vector<std::string> names;
  for (const std::string& output : outputs) {
    if (outputs.size() > 1) names.push_back(output + "_loss");
  }
  return names;
}

std::vector<std::string> Compiled::reported_names() const {
  std::vector<std::string> names = {"loss"};
  for (std::string& name : loss_names()) names.push_back(std::move(name));
  for (const OutputMetric& each : metrics) names.push_back(each.metric.name());
  return names;
}

Compiled Compiled::with_own_metrics() const {
  Compiled own = *this;
  for (OutputMetric& each : own.metrics) each.metric = each.metric.clone();
  return own;
}

Compiled compiled(const CompileOptions& options, const std::vector<std::string>& outputs) {
  const std::vector<std::string> all = outputs.empty() ? std::vector<std::string>{""} : outputs;
  Compiled model{.optimizer = options.optimizer,
                 .outputs = {},
                 .positions = {},
                 .network_outputs = all.size(),
                 .losses = {},
                 .loss_weights = {},
                 .metrics = {},
                 .step = options.step,
                 .run_eagerly = options.run_eagerly};
  const std::vector<Loss> losses = in_order("losses", options.losses, all, options.loss);
  require_loss(options, losses, all);
  for (size_t output = 0; output < all.size(); ++output) {
    if (options.step || losses[output].defined()) model.positions.push_back(output);
  }
  model.outputs = chosen(all, model.positions);
  model.losses = chosen(losses, model.positions);
  require_trained("loss_weights", options.loss_weights, model, all);
  require_trained("metrics", options.metrics, model, all);
  require_trained("weighted_metrics", options.weighted_metrics, model, all);
  model.loss_weights = chosen(in_order("loss_weights", options.loss_weights, all, 1.0), model.positions);
  for (const double weight : model.loss_weights) require::finite("compile", "a value of .loss_weights", weight);
  if (options.step && !(options.metrics.empty() && options.weighted_metrics.empty())) {
    throw ArgumentError(
        "compile: metrics are given with a .step of your own, which alone has the predictions; expected one of the two. A step may return "
        "metrics beside its loss, as a StepResult.");
  }
  Names taken = {"loss"};
  for (const std::string& name : model.loss_names()) taken.insert(name);
  add_metrics("metrics", options.metrics, false, taken, model);
  add_metrics("weighted_metrics", options.weighted_metrics, true, taken, model);
  return model;
}

}  // namespace anyshape::model
