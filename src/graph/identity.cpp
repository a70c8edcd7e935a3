// Numbers of objects: counted up, never given twice.
#include "graph/stateful.h"

#include <anyshape/stateful.h>

namespace anyshape {

uint64_t new_object_id() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

Identity::Identity(std::string kind) : kind_(std::move(kind)), id_(new_object_id()) {}
Identity::~Identity() = default;

}  // namespace anyshape
