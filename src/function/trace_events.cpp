// Adding events.
#include "function/trace_events.h"

#include <iterator>
#include <utility>

namespace anyshape::function_detail {

void TraceEvents::add(TraceEvent event, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  events_.push_back({std::move(event), tensors_.size(), inputs.size(), outputs.size()});
  tensors_.insert(tensors_.end(), inputs.begin(), inputs.end());
  tensors_.insert(tensors_.end(), outputs.begin(), outputs.end());
}

void TraceEvents::append(TraceEvents&& others) {
  if (empty()) {
    *this = std::move(others);
    return;
  }
  for (Recorded& each : others.events_) {
    each.first += tensors_.size();
    events_.push_back(std::move(each));
  }
  tensors_.insert(tensors_.end(), std::make_move_iterator(others.tensors_.begin()), std::make_move_iterator(others.tensors_.end()));
  others.clear();
}

void TraceEvents::clear() {
  events_.clear();
  tensors_.clear();
}

}  // namespace anyshape::function_detail
