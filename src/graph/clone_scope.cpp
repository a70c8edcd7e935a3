// The clone scope of this thread.
#include "graph/clone_scope.h"

namespace anyshape {
namespace {

thread_local CloneScope* innermost = nullptr;

}  // namespace

CloneScope::CloneScope() : outer_(innermost) { innermost = this; }
CloneScope::~CloneScope() { innermost = outer_; }
CloneScope* CloneScope::current() { return innermost; }

}  // namespace anyshape
