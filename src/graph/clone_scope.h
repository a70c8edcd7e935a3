// Cloning: while a scope lives, copying a handle gives a handle on a clone, the same one for the same original. So a user's layer is
// cloned by its own copy constructor, whatever members it has. A scope of some variables clones those and leaves everything else as it is.
#pragma once
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace anyshape {

class CloneScope {
 public:
  CloneScope();
  explicit CloneScope(std::unordered_set<const void*> only);
  ~CloneScope();
  CloneScope(const CloneScope&) = delete;
  CloneScope& operator=(const CloneScope&) = delete;

  // On this thread; null outside. Of a layer, which only a scope of everything clones, and of what a handle holds.
  static CloneScope* current();
  static CloneScope* current(const void* original);

  // The clone of what a handle holds, made by `make` when it is first asked for.
  template <class T, class Make>
  std::shared_ptr<T> clone_of(const std::shared_ptr<T>& original, const Make& make) {
    const auto found = clones_.find(original.get());
    if (found != clones_.end()) return std::static_pointer_cast<T>(found->second);
    std::shared_ptr<T> clone = make();
    clones_.emplace(original.get(), clone);
    return clone;
  }

 private:
  std::unordered_map<const void*, std::shared_ptr<void>> clones_;
  std::unordered_set<const void*> only_;
  bool is_of_everything_;
  CloneScope* outer_;
};

}  // namespace anyshape
