// What is asked of a launch by who plans its memory, and of a program by who tells of it.
#include "lower/program.h"

#include <algorithm>

namespace anyshape::lower {

std::optional<loop::Access> Launch::access_of(int buffer) const {
  const auto found = std::ranges::find(buffers, buffer);
  if (found == buffers.end()) return std::nullopt;
  return kernel->buffers[static_cast<size_t>(found - buffers.begin())].access;
}

size_t count_runs(const Program& program) {
  const auto has_epilogue = [](const LibraryCall& call) { return call.epilogue >= 0; };
  const auto epilogues = static_cast<size_t>(std::ranges::count_if(program.library_calls, has_epilogue));
  return program.launches.size() - epilogues + program.library_calls.size();
}

}  // namespace anyshape::lower
