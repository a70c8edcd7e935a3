// Losses and weights by position, metrics by output. Whether a config can make an object is tried.
#include "model/compile_config.h"

#include "base/cut_text.h"

#include <anyshape/error.h>
#include <anyshape/option_fields.h>
#include <anyshape/random.h>
#include <anyshape/registry.h>

#include <fmt/format.h>

namespace anyshape::model {
namespace {

struct MetricPart {
  std::string output = {};  // empty: the one output has no name
  Config metric = {};
  bool weighted = false;
};
struct CompilePart {
  Config optimizer = {};
  std::vector<Config> losses = {};  // one per output of the network; none: it is not trained
  std::vector<double> loss_weights = {};
  std::vector<MetricPart> metrics = {};
  bool run_eagerly = false;
  std::vector<std::string> not_saved = {};
};

// More than any metric has: thresholds, classes that are chosen. A number of a file's decides how much memory its sums take.
constexpr int64_t largest_number = int64_t{1} << 20;
constexpr size_t most_metrics = 1000;

void require_small_numbers(const Config& config, const std::string& place) {
  switch (config.kind()) {
    case Config::Kind::Integer: detail::integer_from(config, place, -largest_number, largest_number); break;
    case Config::Kind::List:
      for (const Config& item : config.items()) require_small_numbers(item, place);
      break;
    case Config::Kind::Map:
    case Config::Kind::Object:
      for (const Config::Field& field : config.fields()) require_small_numbers(field.value, place + ": " + shortened(field.name));
      break;
    default: break;
  }
}

// The object's config where an object can be made of it.
class Told {
 public:
  explicit Told(std::vector<std::string>& not_saved) : not_saved_(not_saved) {}

  template <class Kind>
  Config config_of(const std::string& what, const Kind& object) const {
    try {
      Config config = object.config();
      if constexpr (std::same_as<Kind, Metric>) require_small_numbers(config, what);
      static_cast<void>(make<Kind>(config));
      return config;
    } catch (const Error& error) {
      not_saved_.push_back(fmt::format("{} ({})", what, error.what()));
      return {};
    }
  }

 private:
  std::vector<std::string>& not_saved_;
  random::SeedScope numbers_{0};  // what is drawn for a trial does not count
};

}  // namespace

Config compile_config(const Compiled& compiled) {
  CompilePart part{.run_eagerly = compiled.run_eagerly};
  const Told told(part.not_saved);
  const std::string optimizer = compiled.optimizer.defined() ? fmt::format(".optimizer \"{}\"", compiled.optimizer.name()) : ".optimizer";
  part.optimizer = told.config_of(optimizer, compiled.optimizer);
  part.losses.resize(compiled.network_outputs);
  part.loss_weights.assign(compiled.network_outputs, 1.0);
  for (size_t output = 0; output < compiled.positions.size(); ++output) {
    const size_t position = compiled.positions[output];
    const std::string& name = compiled.outputs[output];
    const Loss loss = compiled.loss_of(output);
    if (loss.defined()) part.losses[position] = told.config_of(name.empty() ? ".loss" : fmt::format(".losses of \"{}\"", name), loss);
    if (output < compiled.loss_weights.size()) part.loss_weights[position] = compiled.loss_weights[output];
  }
  for (const OutputMetric& each : compiled.metrics) {
    part.metrics.push_back({.output = compiled.outputs[each.output],
                            .metric = told.config_of(fmt::format("the metric \"{}\"", each.metric.name()), each.metric),
                            .weighted = each.is_weighted});
  }
  if (compiled.step) part.not_saved.emplace_back(".step (a callable of the program's)");
  return detail::to_config(part);
}

CompileAgain compile_again(const Config& config, const std::vector<std::string>& outputs) {
  const auto part = detail::from_config<CompilePart>(config, "compile");
  CompileAgain again{.options = {.optimizer = {}, .run_eagerly = part.run_eagerly}, .missing = part.not_saved};
  if (!again.missing.empty()) return again;
  const size_t count = std::max<size_t>(outputs.size(), 1);
  if (part.losses.size() != count || part.loss_weights.size() != count) {
    throw ArgumentError(fmt::format("compile: {} losses and {} loss_weights for {} outputs; expected one for each.", part.losses.size(),
                                    part.loss_weights.size(), count));
  }
  again.options.optimizer = detail::from_config<Optimizer>(part.optimizer, "compile: optimizer");
  std::vector<ForOutput<Loss>> losses;
  std::vector<ForOutput<double>> weights;
  for (size_t output = 0; output < count; ++output) {
    const bool is_trained = !part.losses[output].is_null();
    losses.emplace_back("",
                        is_trained ? detail::from_config<Loss>(part.losses[output], fmt::format("compile: losses[{}]", output)) : Loss());
    weights.emplace_back("", part.loss_weights[output]);
  }
  again.options.losses = PerOutput<Loss>(std::move(losses));
  again.options.loss_weights = PerOutput<double>(std::move(weights));
  if (part.metrics.size() > most_metrics) {
    throw ArgumentError(fmt::format("compile: {} metrics; expected at most {}.", part.metrics.size(), most_metrics));
  }
  std::vector<ForOutput<Metric>> metrics, weighted;
  for (const MetricPart& each : part.metrics) {
    const std::string place = fmt::format("compile: metrics[{}]", metrics.size() + weighted.size());
    require_small_numbers(each.metric, place);
    (each.weighted ? weighted : metrics).emplace_back(each.output, detail::from_config<Metric>(each.metric, place));
  }
  again.options.metrics = PerOutput<Metric>(std::move(metrics));
  again.options.weighted_metrics = PerOutput<Metric>(std::move(weighted));
  return again;
}

}  // namespace anyshape::model
