// Target, prediction, mask and weights of a loss or metric, as dense tensors that belong together.
#pragma once
#include "tensor/partition.h"

#include <anyshape/metric.h>
#include <anyshape/tensor.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace anyshape::train {

enum class TargetKind : uint8_t {
  Same,     // the prediction's shape and dtype; [rows] stands for [rows, 1]
  Classes,  // class numbers, i32: the prediction's shape without the axis of classes, or with a 1 there
};

struct Operands {
  Tensor target;
  Tensor prediction;
  Tensor mask;                                 // b8 over leading axes; undefined: every position is real
  Tensor weight;                               // of samples or positions; undefined: all 1
  std::shared_ptr<const Partition> rows = {};  // of tensors that were ragged: their first axis is all positions of all rows
};

struct OperandRule {
  std::string_view name;  // of the loss or metric, for errors
  TargetKind target = TargetKind::Same;
  int axis = -1;                     // of the elements or classes that make one value
  std::string_view other_form = {};  // the loss or metric that takes labels in the other form: class numbers, or a column per class
  bool is_elementwise = false;  // elements do not need each other: where rows or mask reach the last axis, each is a position of its own
  bool counts_classes = false;  // a metric of hits and misses per class, for which class numbers are a likely mistake
};

// Ragged tensors become their values, and the rule's axis the last one. ShapeError, or a check inside a trace, where shapes do not fit.
Operands matched(const OperandRule& rule, const Operands& given);

// For metrics that count elements: each with the weight it counts by.
WeighedBatch weighed(const OperandRule& rule, const Tensor& target, const Tensor& prediction, const Tensor& sample_weight);

// A weight per row, or a ragged one per position, for every position of a ragged tensor: [total, ...].
Tensor per_position(std::string_view name, const Tensor& weight, const Tensor& ragged);

// A mask or weight of leading axes under those of `values`: of their rank, with 1 where it is repeated.
Tensor beside(std::string_view name, const Tensor& weight, const Tensor& values);

}  // namespace anyshape::train
