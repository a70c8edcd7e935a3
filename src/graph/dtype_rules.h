// Dtype rules shared by ops: what the inputs are cast to before an op runs.
#pragma once
#include "graph/op_def.h"

namespace anyshape {

// The dtype two operands meet in: b8 < u8 < i32 < i64 < f16, bf16 < f32 < f64, an integer with a float gives that float; weak host
// numbers give way to tensors of their kind or a higher one.
Dtype promote(DtypeArgument a, DtypeArgument b);

namespace dtype_rule {
void any(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);              // as given
void promoted(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);         // all in their common dtype
void promoted_number(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);  // and b8 counts as i32
void floating(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);         // integers become f32
void logical(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);          // b8
void condition_first(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted);  // b8, then promoted
void indices_last(std::string_view op, std::span<const DtypeArgument> inputs,
                  std::span<Dtype> wanted);  // as given; the last must be i32 or i64
}  // namespace dtype_rule

}  // namespace anyshape
