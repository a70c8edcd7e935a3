// Decides comparisons of sizes: by proof, else by the tracer of this thread.
#include "shape/judge.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include "shape/prove.h"

namespace anyshape {

bool decide(Relation relation, const Dim& a, const Dim& b) {
  if (const std::optional<bool> known = proves(relation, a, b)) return *known;
  if (DimJudge* judge = current_judge()) return judge->decide(relation, a, b);
  throw TraceError(
      fmt::format("size comparison: \"{}\" is not decided by what is known of its sizes, and no trace is under way to decide it; "
                  "expected constants. A size has left its trace: keep symbolic sizes inside the function that made them.",
                  to_string(SizeCheck{relation, a, b})));
}

}  // namespace anyshape
