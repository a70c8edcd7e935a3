// The clone scope of this thread.
#include "graph/clone_scope.h"

#include "base/thread_context.h"

namespace anyshape {

CloneScope::CloneScope() : is_of_everything_(true), outer_(this_thread.clones) { this_thread.clones = this; }
CloneScope::CloneScope(std::unordered_set<const void*> only)
    : only_(std::move(only)), is_of_everything_(false), outer_(this_thread.clones) {
  this_thread.clones = this;
}
CloneScope::~CloneScope() { this_thread.clones = outer_; }
CloneScope* CloneScope::current() {
  return this_thread.clones != nullptr && this_thread.clones->is_of_everything_ ? this_thread.clones : nullptr;
}
CloneScope* CloneScope::current(const void* original) {
  if (this_thread.clones == nullptr || original == nullptr) return nullptr;
  return this_thread.clones->is_of_everything_ || this_thread.clones->only_.contains(original) ? this_thread.clones : nullptr;
}

}  // namespace anyshape
