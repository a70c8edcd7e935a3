// Buffers by their numbers in the key, or as temporaries of the kernel's own.
#include "lower/known_groups.h"

namespace anyshape::lower {

const WrittenKernel* KnownGroups::find(const KernelKey& key) const {
  if (!finds_equal_groups()) return nullptr;
  const auto found = written_.find(key.words());
  return found == written_.end() ? nullptr : &found->second;
}

void KnownGroups::add(const KernelKey& key, const Launch& launch, const std::vector<ProgramBuffer>& buffers, const Decisions& decisions,
                      const Before& before, const std::string& subject) {
  WrittenKernel written{.kernel = launch.kernel, .dims = launch.dims};
  for (size_t i = before.first_temporary; i < buffers.size(); ++i) written.temporaries.push_back({buffers[i].dtype, buffers[i].count});
  for (const int buffer : launch.buffers) {
    const bool is_own = static_cast<size_t>(buffer) >= before.first_temporary;
    const int number = is_own ? static_cast<int>(key.buffers().size() + static_cast<size_t>(buffer) - before.first_temporary)
                              : KernelKey::number_in(key.buffers(), buffer);
    if (number < 0) return;
    written.buffers.push_back(number);
  }
  for (size_t i = before.first_decision; i < decisions.size(); ++i) {
    if (decisions[i].subject != subject) return;
    written.decisions.push_back(decisions[i]);
  }
  written_.emplace(key.words(), std::move(written));
}

}  // namespace anyshape::lower
