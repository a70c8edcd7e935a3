// A loop over the first axis as one node.
#pragma once
#include "graph/trace_scope.h"

namespace anyshape {

// Inputs: the carried values, the sequences, what the body captures. The body takes carried values, one step of each sequence and captures,
// and gives carried values and one step of each output. Outputs: the last carried values, then the stacked ones.
struct ScanAttrs {
  int64_t carried = 0;
  int64_t sequences = 0;
  Dim length;
  bool reverse = false;
  bool saves = false;  // the last outputs are what the body was given, step by step: the carried values, for gradients
  RegionGraph body;
  template <class V>
  void visit(V& v) {
    v("carried", carried);
    v("sequences", sequences);
    v("length", length);
    v("reverse", reverse);
    v("saves", saves);
    v("body", body);
  }
};

Attrs saving_scan(const Attrs& attrs);  // the same scan with `saves`
std::vector<Tensor> scan_gradient(const struct GradientCall& call);

// A region whose arguments are carried values (and more): variables that it assigns are carried further, after `carried` of them. Gives
// their values before the loop.
std::vector<Tensor> carry_variables(Region& region, size_t carried);

}  // namespace anyshape
