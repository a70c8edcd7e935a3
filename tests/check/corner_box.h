// The corner box that every generator draws from: sizes, values and views that break things more often than ordinary ones.
#pragma once
#include "check/flat.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace anyshape::check {

// The same numbers on every machine for one seed.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  int64_t below(int64_t limit) { return static_cast<int64_t>(next() % static_cast<uint64_t>(limit)); }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }
  double real(double low, double high);
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

  int64_t size();           // 0, 1, 2, 3, 7, ... 65: 0 in 8 of 100, 1 in 15 of 100
  Sizes sizes(int rank);    // at most `elements` of them together
  int64_t elements = 3000;  // the most a tensor may have
  int64_t largest = 65;     // the greatest size
  int64_t every = -1;       // where not negative: the one size to draw
  bool smooth = false;      // derivatives are tried: no inputs where there are none

 private:
  uint64_t state_;
};

// Where an op is tried: an interval of ordinary values, and which special ones it takes. Integers are drawn from the interval alone.
struct Domain {
  double low = -4;
  double high = 4;
  bool zeros = true;       // both signs; denormals too
  bool infinities = true;  // both signs, or the one that the interval leaves open
  bool nan = true;
  bool extremes = true;            // the largest and the smallest finite and normal numbers, inside [low, high] extended to infinity
  double least = -1e300;           // special values below are left out
  double most = 1e300;             // and above
  std::vector<double> kinks = {};  // no derivative there: gradients are tried elsewhere
  std::vector<double> exact = {};  // further values to try
};

inline constexpr Domain ordinary_numbers{.zeros = true, .infinities = false, .nan = false, .extremes = false};

double draw(Random& random, Dtype dtype, const Domain& domain);
double draw_smooth(Random& random, const Domain& domain);  // inside the interval and away from kinks

enum class View { Whole, Transposed, Stepped, Reversed, Repeated, Misaligned };
inline constexpr View all_views[] = {View::Whole, View::Transposed, View::Stepped, View::Reversed, View::Repeated, View::Misaligned};
std::string to_string(View view);

// A tensor of these sizes whose elements are drawn, standing in memory as the view says (as far as its rank allows).
Tensor draw_tensor(Random& random, Dtype dtype, const Sizes& sizes, const Domain& domain, View view = View::Whole);

}  // namespace anyshape::check
