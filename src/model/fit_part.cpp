// Parts of a fit that a file has.
#include "model/fit_part.h"

#include "base/class_name.h"

#include <fmt/format.h>

#include <typeinfo>

namespace anyshape::model {

void Runs::add(int64_t number) {
  if (!pairs_.empty() && pairs_[pairs_.size() - 2] == number) {
    ++pairs_.back();
  } else {
    pairs_.insert(pairs_.end(), {number, 1});
  }
}

PlacePart to_part(const Batches::Place& place) { return {RandomPart::of(place.opened), place.passes, place.is_fresh}; }
Batches::Place from_part(const PlacePart& part) { return {part.opened.position(), part.passes, part.fresh}; }

void add_callbacks(const std::vector<AnyCallback>& callbacks, FitPart& part, NamedTensors& tensors) {
  for (const AnyCallback& callback : callbacks) {
    const CallbackState state = callback->state();
    for (const auto& [name, tensor] : state.tensors) {
      tensors.emplace_back(fmt::format("{}{}/{}", of_callbacks, part.callbacks.size(), name), tensor);
    }
    const Callback& own = *callback;
    part.callbacks.push_back({class_name(typeid(own)), state.values});
  }
}

void add_history(const History& history, FitPart& part) {
  for (const std::string& name : history.names()) part.history.push_back({name, history[name]});
}

}  // namespace anyshape::model
