// A random graph traced and run at five shapes, against the same ops called eagerly.
#pragma once
#include "check/random_graph.h"

namespace anyshape::check {

enum class How {
  Interpreted,
  Compiled,
  FixedSizes,  // interpreted, as the next, by signatures that know sizes
  SomeFixedSizes,
  UnderTape,          // interpreted: the ops are a function, which a tape outside of it follows
  CompiledUnderTape,  // and by machine code
};

struct Outcome {
  std::string what;   // empty: all agrees
  std::string graph;  // the trace's text form
};

Outcome compare(const RandomGraph& graph, How how, Dtype dtype, const PlantedFault& fault = nullptr);
// The fewest ops that still differ.
RandomGraph reduce(const RandomGraph& graph, How how, Dtype dtype, const PlantedFault& fault = nullptr);
// A difference is a failure of the test, with the reduced graph's text.
void check_graph(const RandomGraph& graph, How how, Dtype dtype);

}  // namespace anyshape::check
