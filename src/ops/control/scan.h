// A loop over the first axis as one node; over rows of unequal length, too.
#pragma once
#include "graph/trace_scope.h"

#include <anyshape/control.h>

namespace anyshape {

using detail::ScanBody;

// Inputs: the carried values, the sequences, what the body captures. The body takes carried values, one step of each sequence and captures,
// and gives carried values and one step of each output. Outputs: the last carried values, then the stacked ones.
//
// In a packed scan step t works on the first counts[t] rows only. `active` is a symbol of the body with that value. Where the body's own
// value begins with an axis of size `active`, a carried value is the first rows of [rows, ...], of which the others keep what they are, and
// a step of a sequence or output is the next `active` entries of [total, ...]. Everything else goes by steps as it does in a dense scan.
// The last input is counts i64[length].
struct ScanAttrs {
  int64_t carried = 0;
  int64_t sequences = 0;
  Dim length;
  bool reverse = false;
  int64_t saved = 0;  // so many of the last outputs are for gradients: the carried values as the body was given them, then what is
                      // costly to compute again
  Dim active = 0;     // a constant: the scan is dense
  Dim rows = 0;
  Dim total = 0;
  RegionGraph body;
  bool is_packed() const { return !active.is_constant(); }
  bool goes_by_rows(const TensorSpec& in_body) const;
  bool can_be_stacked(const TensorSpec& in_body) const;  // every step of it has memory of known size
  template <class V>
  void visit(V& v) {
    v("carried", carried);
    v("sequences", sequences);
    v("length", length);
    v("reverse", reverse);
    v("saved", saved);
    v("active", active);
    v("rows", rows);
    v("total", total);
    v("body", body);
  }
};

// Whether a value of the body has a row for each of the `rows`; whether their number stands nowhere but in front.
bool begins_with(const Shape& shape, const Dim& rows);
bool names_rows_in_front_only(const Shape& shape, const Dim& rows);

// A scan over rows of unequal length, sorted by decreasing length, without a padded step: counts[t] (integers [time], never increasing, at
// most the rows of the carry) is how many rows have a step t. Carried tensors are [rows, ...]; sequences and outputs are [total, ...], packed
// step after step: the first steps of all rows that have one, then the second steps. The body gets and gives the first `active` rows of the
// carry and the `active` entries of a step; a row that has ended keeps its carry. Results as scan_tensors gives them.
FunctionResults scan_packed(const Tensor& counts, const std::vector<Tensor>& carried, const std::vector<Tensor>& sequences,
                            const ScanBody& body);

// How a scan is traced; the fields from `counts` on are of packed ones.
struct ScanPlan {
  Dim length;
  bool reverse = false;
  Tensor counts = {};
  Dim active = 0;
  Dim rows = 0;
  Dim total = 0;
  std::vector<bool> by_rows = {};  // per carried value and sequence; none: all go by steps
};
FunctionResults trace_scan(const ScanBody& body, const std::vector<Tensor>& carried, const std::vector<Tensor>& sequences,
                           const ScanPlan& plan);
FunctionResults scan_eagerly(const ScanBody& body, std::vector<Tensor> carried, const std::vector<Tensor>& sequences, const ScanPlan& plan);

Attrs saving_scan(const Attrs& attrs);  // the same scan with what gradients need as further outputs
std::vector<Tensor> scan_gradient(const struct GradientCall& call);

[[noreturn]] void refuse_scan_carry(size_t number, const std::string& before, const std::string& after);
Shape stacked_shape(const Dim& size, const Shape& step);  // [size, ...]
Shape step_shape(const Shape& whole);                     // without the first axis
Tensor settled_number(const Tensor& value);               // a host number becomes a tensor like any other

// A region whose arguments are carried values (and more): variables that it assigns are carried further, after `carried` of them. Gives
// their values before the loop.
std::vector<Tensor> carry_variables(Region& region, size_t carried);

}  // namespace anyshape
