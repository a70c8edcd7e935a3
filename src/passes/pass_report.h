// What a pass did and took: explain() shows them as a table.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace anyshape::passes {

struct PassReport {
  std::string_view name;  // lives for ever
  int64_t microseconds = 0;
  size_t nodes_before = 0, nodes_after = 0;  // those of regions, too
  size_t rewrites = 0;                       // how many of its decisions were a yes
};
using PassReports = std::vector<PassReport>;

}  // namespace anyshape::passes
