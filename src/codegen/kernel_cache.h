// Where compiled objects are looked for before LLVM is asked: the cache on disk that the user has chosen, if any.
#pragma once
#include "codegen/disk_cache.h"

#include <memory>

namespace anyshape::codegen {

std::shared_ptr<DiskCache> disk_cache();  // null where it is off

}  // namespace anyshape::codegen
