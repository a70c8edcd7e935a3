// What analyses of graphs ask of an op, said where the op is defined: so they name none, and a new op is understood by all of them.
#pragma once
#include <anyshape/shape.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace anyshape {

class Attrs;
class OpCall;

// Which control flow an op is; its attributes are of that kind (ops/control/).
enum class ControlFlow : uint8_t { None, Branch, Scan, While };

// When no element of the result is -0, the one number that x + 0 changes.
enum class NeverNegativeZero : uint8_t {
  Unknown,
  Always,
  WithOneInput,       // if one of the inputs never is
  WithAllInputs,      // if none of the inputs ever is; so it is with every op of kind Movement
  WithEqualInputs,    // a product of a number with itself
  WithIntegerInputs,  // of floating ones, a small one below 0 may become -0
};

// A part of a tensor: from `begins`, every step-th element, as many as the part has. Axes behind the last one are whole.
struct TensorPart {
  std::span<const Dim> begins;
  std::span<const int64_t> steps;
};

inline bool begins_at_zero(const TensorPart& part) {
  return std::ranges::all_of(part.begins, [](const Dim& begin) { return begin.same_as(0); }) &&
         std::ranges::all_of(part.steps, [](int64_t step) { return step == 1; });
}

inline bool always_identity(const OpCall&) { return true; }

struct OpTraits {
  bool is_cast = false;           // the first input's numbers in another dtype
  bool is_difference = false;     // the first input less the second
  bool keeps_elements = false;    // each element of the result is one of the first input's, whatever the others hold
  bool is_flat = false;           // its gradient is 0 wherever there is one: what it was computed from is not trained through it
  bool is_long_function = false;  // its gradient reads its result, which takes long to compute again
  NeverNegativeZero never_negative_zero = NeverNegativeZero::Unknown;
  ControlFlow control = ControlFlow::None;
  bool (*is_identity)(const OpCall& call) = nullptr;           // whether a result that has the first input's shape is that input
  int (*joined_axis)(const Attrs& attrs, int rank) = nullptr;  // the result is the inputs one after the other along this axis of it
  TensorPart (*part)(const Attrs& attrs) = nullptr;            // the result is this part of the first input
};

}  // namespace anyshape
