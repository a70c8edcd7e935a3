// What the segment ops share: inputs values [total, ...] first and row splits last, and loops over rows whose bounds are splits.
#pragma once
#include "loop/element.h"

#include <functional>

namespace anyshape {

// Attributes of ops whose number of values no input tells.
struct TotalAttrs {
  Dim total;
  template <class V>
  void visit(V& v) {
    v("total", total);
  }
};

namespace dtype_rule {
// The last input becomes i64 (DtypeError for others than i32 and i64); the values stay, or count in i32, f32 or b8 where they must.
void splits_last(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);
void number_and_splits(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);
void floating_and_splits(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);
void logical_and_splits(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);
}  // namespace dtype_rule

Dim require_splits(OpCall& call);                 // the number of rows; ShapeError where the last input is no vector or has no element
const Shape& require_values(OpCall& call);        // the shape of input 0; ShapeError for rank 0
Shape with_first(const Shape& shape, Dim size);   // the first size replaced
Specs segment_wise_shape(OpCall& call);           // a result like the values
SplitsRule splits_of_values(const OpCall& call);  // splits end at the number of values
SplitsRule splits_of_total(const OpCall& call);   // or at TotalAttrs::total

// One row, or some columns of it: elements [begin, end) along the first axis, of each the columns [first, last).
struct Segment {
  loop::Value row, begin, end, first, last;
};

// Rows (and strips of columns, where values have more than one), independent of each other.
class SegmentLoop {
 public:
  SegmentLoop(LowerCall& call, const Shape& values);  // the splits are the call's last input
  void run(const std::function<void(const Segment& segment)>& body) const;

  bool is_flat() const { return width_.same_as(1); }                       // one column
  loop::Value width() const { return call_.size(width_); }                 // columns
  loop::Value offset(loop::Value element, loop::Value column = {}) const;  // in memory

 private:
  LowerCall& call_;
  Dim total_, width_;
};

}  // namespace anyshape
