// What has been found out about the reads of loops, by the keys of the loops: a dry run takes as long as writing the kernel.
#pragma once
#include "lower/kernel_key.h"

namespace anyshape::lower {

class KnownReads {
 public:
  SizeNumbers sizes;

  // What dry runs find, if loops with this key have had one; the ops are the caller's to find.
  bool find(const KernelKey& key, KernelReads& found) const;
  void add(KernelKey key, const KernelReads& found);

 private:
  struct Read {
    int value;  // its number in the key
    InlineVector<int, 4> axes;
  };
  struct Known {
    std::vector<Read> reads;
    std::vector<int> indexed;  // numbers of nodes
    std::vector<bool> joins;
    std::vector<OpenSize> open;
  };
  std::unordered_map<KernelKey::Words, Known, KernelKey::Hash> known_;
};

}  // namespace anyshape::lower
