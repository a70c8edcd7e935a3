// Promotion and the dtype rules built on it.
#include "graph/dtype_rules.h"

#include "graph/layer_path.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape {
namespace {

enum class Category { Bool, Integer, Floating };
Category category(Dtype dtype) {
  if (dtype == Dtype::b8) return Category::Bool;
  return is_floating(dtype) ? Category::Floating : Category::Integer;
}

}  // namespace

Dtype promote(DtypeArgument a, DtypeArgument b) {
  if (a.weak != b.weak) {
    const DtypeArgument& strong = a.weak ? b : a;
    const DtypeArgument& weak = a.weak ? a : b;
    // A host number never widens a tensor of its own category or above; a float meeting integers makes them f32.
    return category(weak.dtype) <= category(strong.dtype) ? strong.dtype : weak.dtype;
  }
  if ((a.dtype == Dtype::f16 && b.dtype == Dtype::bf16) || (a.dtype == Dtype::bf16 && b.dtype == Dtype::f16)) return Dtype::f32;
  return std::max(a.dtype, b.dtype);
}

namespace dtype_rule {

void any(std::string_view, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  for (size_t i = 0; i < inputs.size(); ++i) wanted[i] = inputs[i].dtype;
}

void promoted(std::string_view, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  DtypeArgument common = inputs[0];
  for (const DtypeArgument& input : inputs.subspan(1)) common = {promote(common, input), common.weak && input.weak};
  std::ranges::fill(wanted, common.dtype);
}

void promoted_number(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  promoted(op, inputs, wanted);
  if (wanted[0] == Dtype::b8) std::ranges::fill(wanted, Dtype::i32);
}

void floating(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  promoted(op, inputs, wanted);
  if (!is_floating(wanted[0])) std::ranges::fill(wanted, Dtype::f32);
}

void logical(std::string_view, std::span<const DtypeArgument>, std::span<Dtype> wanted) { std::ranges::fill(wanted, Dtype::b8); }

void condition_first(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  wanted[0] = Dtype::b8;
  promoted(op, inputs.subspan(1), wanted.subspan(1));
}

void indices_last(std::string_view op, std::span<const DtypeArgument> inputs, std::span<Dtype> wanted) {
  any(op, inputs, wanted);
  const Dtype indices = inputs.back().dtype;
  if (indices == Dtype::i32 || indices == Dtype::i64) return;
  throw DtypeError(fmt::format("{}: indices are {}; expected i32 or i64. Cast them with as::cast(indices, as::i32).{}", op,
                               to_string(indices), current_place()));
}

}  // namespace dtype_rule
}  // namespace anyshape
