// Values of variables before the first assignment.
#include "graph/variable_undo.h"

#include "base/no_fork.h"
#include "base/thread_context.h"

#include <utility>

namespace anyshape {

VariableUndo::VariableUndo() : outer_(std::exchange(this_thread.undo, this)) {}
VariableUndo::~VariableUndo() { this_thread.undo = outer_; }

VariableUndo* VariableUndo::current() { return this_thread.undo; }

void VariableUndo::remember(const std::shared_ptr<VariableState>& variable) {
  if (outer_ != nullptr) outer_->remember(variable);
  Tensor now = variable->value();
  Change& change = changes_.try_emplace(variable->id, variable).first->second;
  if (change.assigned.impl() != now.impl()) change.before = std::move(now);  // the first time, or after another thread
}

void VariableUndo::note_assigned(const VariableState& variable) noexcept {
  for (VariableUndo* undo = this; undo != nullptr; undo = undo->outer_) {
    if (const auto found = undo->changes_.find(variable.id); found != undo->changes_.end()) found->second.assigned = variable.value();
  }
}

// In the order of ids, as everybody takes turns.
void VariableUndo::restore() noexcept {
  const NoFork whole;
  for (const auto& [id, change] : changes_) change.variable->turn().lock();
  for (auto& [id, change] : changes_) {
    if (change.assigned.impl() != change.variable->value().impl()) continue;
    change.variable->set_value(std::move(change.before));
    if (outer_ != nullptr) outer_->note_assigned(*change.variable);
  }
  for (const auto& [id, change] : changes_) change.variable->turn().unlock();
  changes_.clear();
}

}  // namespace anyshape
