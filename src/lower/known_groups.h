// Groups that have been lowered, by their keys: what was written for one serves all equal ones.
#pragma once
#include "lower/kernel_key.h"
#include "lower/program.h"

#include <optional>

namespace anyshape::lower {

struct WrittenKernel {
  struct Temporary {
    Dtype dtype;
    Dim count;
  };
  std::shared_ptr<const loop::Kernel> kernel = {};
  std::vector<int> buffers = {};  // of the launch: a number among the key's buffers, or behind them one of the temporaries
  std::vector<Temporary> temporaries = {};
  std::vector<Dim> dims = {};
  Decisions decisions = {};  // taken on the way, all about the last root
};

class KnownGroups {
 public:
  SizeNumbers& sizes() { return sizes_; }

  const WrittenKernel* find(const KernelKey& key) const;  // null: there is none
  // What has been written: `buffers` are all of the program's, of which those from `first_temporary` on have been added, and so with `decisions`. What
  // does not come from the key alone is not kept.
  struct Before {
    size_t first_temporary, first_decision;
  };
  void add(const KernelKey& key, const Launch& launch, const std::vector<ProgramBuffer>& buffers, const Decisions& decisions,
           const Before& before, const std::string& subject);

 private:
  SizeNumbers sizes_;
  std::unordered_map<KernelKey::Words, WrittenKernel, KernelKey::Hash> written_;
};

}  // namespace anyshape::lower
