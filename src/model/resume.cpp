// Everything is put back where it stood: state of tensors, random numbers, the order of the data, callbacks, and the sums of the epoch.
#include "model/resume.h"

#include "base/class_name.h"
#include "base/cut_text.h"
#include "train/metric_state.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <map>
#include <set>
#include <typeinfo>

namespace anyshape::model {

Resume::Resume(const std::filesystem::path& file) : file_("fit: resume_from", file) {
  if (file_.parts().fit.is_null()) {
    file_.refuse(
        "has no state of a training; expected a file that ModelCheckpoint, or save() in a callback, made. After load_model() a new "
        "training begins "
        "without .resume_from");
  }
  file_.in_part("fit", [&] {
    part_ = detail::from_config<FitPart>(file_.parts().fit, "fit");
    const auto require = [](const char* what, int64_t number) {
      if (number < 0) throw ArgumentError(fmt::format("fit: {} is {}; expected 0 or more.", what, number));
    };
    require("epoch", part_.epoch);
    require("steps", part_.steps);
    require("rows", part_.rows);
    require("data: passes", part_.data.passes);
    require("validation: passes", part_.validation.passes);
    if (part_.calls.size() % 2 != 0) throw ArgumentError("fit: calls has no pairs; expected a number, and how often it stands there.");
    for (size_t i = 1; i < part_.calls.size(); i += 2) require("calls: a count", part_.calls[i] - 1);
    constexpr size_t most_columns = 5000;
    if (part_.history.size() > most_columns) {
      throw ArgumentError(fmt::format("fit: history has {} columns; expected at most {}.", part_.history.size(), most_columns));
    }
    std::set<std::string_view> names;
    for (const ColumnPart& column : part_.history) {
      if (!names.insert(column.name).second) throw ArgumentError(fmt::format("fit: history has {} twice.", in_quotes(column.name)));
    }
  });
}

History Resume::history() const {
  History history;
  for (const ColumnPart& column : part_.history) {
    for (const double value : column.values) history.append(column.name, value);
  }
  return history;
}

std::string Resume::metric_name(size_t metric, const std::string& sum) const { return fmt::format("{}{}/{}", of_metrics, metric, sum); }

void Resume::require_fit(const Model& model, const Compiled& compiled, const Extent& extent) {
  values_.emplace(file_);
  values_->add_weights(model);
  values_->add_optimizer(compiled.optimizer);
  if (part_.extent && extent.count && (*part_.extent != *extent.count || part_.unit != extent.unit)) {
    file_.refuse(
        fmt::format("was written by a training with {} {}s per epoch, and this one has {} {}s; expected the same data and batch size",
                    *part_.extent, shortened(part_.unit), *extent.count, extent.unit));
  }
  if (!part_.sums.outputs.empty() && part_.sums.outputs.size() != compiled.loss_weights.size()) {
    file_.refuse(fmt::format("has sums of {} losses; expected {}", part_.sums.outputs.size(), compiled.loss_weights.size()));
  }
  for (size_t i = 0; i < compiled.metrics.size(); ++i) {
    for (const Variable& sum : compiled.metrics[i].metric.variables()) {
      const auto found = file_.tensors().find(metric_name(i, sum.name()));
      if (found == file_.tensors().end() || (found->second.dtype() == sum.dtype() && found->second.shape().same_as(sum.shape()))) continue;
      file_.refuse(fmt::format("has the tensor {} as {}; expected {}", in_quotes(found->first),
                               to_string(TensorSpec{found->second.dtype(), found->second.shape(), {}}),
                               to_string(TensorSpec{sum.dtype(), sum.shape(), {}})));
    }
  }
  require_best_weights(model);
  expect_slots(file_, compiled.optimizer);
}

// They are put back at the end of the training: what is wrong with them is not to be found then.
void Resume::require_best_weights(const Model& model) const {
  const std::vector<Variable> variables = model.variables();
  for (size_t i = 0; i < part_.callbacks.size(); ++i) {
    if (part_.callbacks[i].type != class_name(typeid(EarlyStopping))) continue;
    const auto tensors = file_.tensors_of(fmt::format("{}{}/", of_callbacks, i));
    bool fits = tensors.empty() || tensors.size() == variables.size();
    for (size_t weight = 0; fits && !tensors.empty() && weight < variables.size(); ++weight) {
      const auto found = tensors.find(std::to_string(weight));
      fits = found != tensors.end() && found->second.dtype() == variables[weight].dtype() &&
             found->second.shape().same_as(variables[weight].shape());
    }
    if (!fits) file_.refuse(fmt::format("has best weights of EarlyStopping that are not like the {} of the model", variables.size()));
  }
}

// After the sums are reset: those that are made with the first batch begin with the file's.
void Resume::set_metrics(const Compiled& compiled) const {
  for (size_t i = 0; i < compiled.metrics.size(); ++i) {
    MetricState& state = compiled.metrics[i].metric.metric()->state();
    std::map<std::string, Tensor> values = file_.tensors_of(metric_name(i, ""));
    std::erase_if(values, [](const auto& each) { return each.second.dtype() != Dtype::f64; });
    for (const Variable& sum : state.sums) {
      if (const auto found = values.find(sum.name()); found != values.end()) sum.assign(found->second);
    }
    state.expected = std::move(values);
  }
}

void Resume::set_callbacks(const std::vector<AnyCallback>& callbacks) const {
  std::map<std::string, size_t> next;  // per class
  for (const AnyCallback& callback : callbacks) {
    const Callback& own = *callback;
    const std::string type = class_name(typeid(own));
    size_t& from = next[type];
    while (from < part_.callbacks.size() && part_.callbacks[from].type != type) ++from;
    if (from == part_.callbacks.size()) continue;  // it begins anew
    CallbackState state{.values = part_.callbacks[from].values, .tensors = {}};
    for (const auto& [name, tensor] : file_.tensors_of(fmt::format("{}{}/", of_callbacks, from))) state.tensors.emplace_back(name, tensor);
    file_.in_part(fmt::format("state of the callback {}", type), [&] { callback->set_state(state); });
    ++from;
  }
}

std::optional<Batch> Resume::replay(Batches& batches, Runs& calls) const {
  batches.reopen(from_part(part_.data));
  function_detail::RandomPosition position = part_.data.opened.position();
  int64_t done = 0;
  for (size_t run = 0; run < part_.calls.size(); run += 2) {
    for (int64_t i = 0; i < part_.calls[run + 1]; ++i, ++done) {
      position.next_call += static_cast<uint64_t>(part_.calls[run]);
      function_detail::set_random_position(position);
      calls.add(part_.calls[run]);
      if (done == part_.steps) return batches.next();
      if (!batches.skip()) {
        file_.refuse(fmt::format("was written after {} steps of an epoch, and the data has {}; expected the same data", part_.steps, done));
      }
    }
  }
  return std::nullopt;
}

uint64_t Resume::drawn() const {
  uint64_t calls = part_.data.opened.position().next_call;
  for (size_t run = 0; run < part_.calls.size(); run += 2)
    calls += static_cast<uint64_t>(part_.calls[run]) * static_cast<uint64_t>(part_.calls[run + 1]);
  return calls;
}

}  // namespace anyshape::model
