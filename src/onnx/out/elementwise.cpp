// Elementwise ops: most are one node. What ONNX has no op for is said with others, in a form that is as exact near 0 as our own.
#include "onnx/out/rule.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace anyshape::onnx::out {
namespace {

template <const char* op>
void one(NodeCall& c) {
  Names inputs;
  for (size_t i = 0; i < c.inputs(); ++i) inputs.push_back(c.in(i));
  c.out(c.add(op, inputs));
}

template <const char* op>
void rounding(NodeCall& c) {
  c.out(is_floating(c.dtype()) ? c.add(op, {c.in(0)}) : c.in(0));
}

void same(NodeCall& c) { c.out(c.in(0)); }
void rsqrt(NodeCall& c) { c.out(c.add("Reciprocal", {c.add("Sqrt", {c.in(0)})})); }

void trunc(NodeCall& c) {
  if (!is_floating(c.dtype())) return c.out(c.in(0));
  const std::string x = c.in(0);
  c.out(c.add("Mul", {c.add("Sign", {x}), c.add("Floor", {c.add("Abs", {x})})}));
}

void expm1(NodeCall& c) {
  const std::string x = c.in(0), half = c.add("Mul", {x, c.number(0.5)});
  const std::string near = c.add("Mul", {c.add("Mul", {c.add("Sinh", {half}), c.add("Exp", {half})}), c.number(2)});
  const std::string far = c.add("Sub", {c.add("Exp", {x}), c.number(1)});
  c.out(c.add("Where", {c.add("Less", {c.add("Abs", {x}), c.number(1)}), near, far}));
}

void log1p(NodeCall& c) {
  const std::string x = c.in(0);
  const std::string near = c.add("Mul", {c.add("Atanh", {c.add("Div", {x, c.add("Add", {x, c.number(2)})})}), c.number(2)});
  const std::string far = c.add("Log", {c.add("Add", {x, c.number(1)})});
  c.out(c.add("Where", {c.add("Less", {c.add("Abs", {x}), c.number(0.5)}), near, far}));
}

// Gelu is an op from opset 20 on; before that it is written as exporters do, which runtimes find again.
void gelu(NodeCall& c) {
  const std::string x = c.in(0);
  const bool is_tanh = c.a.flag("approximate");
  if (c.e.opset() >= 20) return c.out(c.add("Gelu", {x}, {{"approximate", std::string(is_tanh ? "tanh" : "none")}}));
  std::string inner;
  if (is_tanh) {
    const std::string cube = c.add("Pow", {x, c.number(3)});
    const std::string bent = c.add("Add", {x, c.add("Mul", {cube, c.number(0.044715)})});
    inner = c.add("Tanh", {c.add("Mul", {bent, c.number(std::sqrt(2 / std::numbers::pi))})});
  } else {
    inner = c.add("Erf", {c.add("Div", {x, c.number(std::numbers::sqrt2)})});
  }
  c.out(c.add("Mul", {c.add("Mul", {x, c.add("Add", {inner, c.number(1)})}), c.number(0.5)}));
}

// Of a fraction y / x the angle is known up to half a turn.
void atan2(NodeCall& c) {
  const std::string y = c.in(0), x = c.in(1), zero = c.number(0), pi = c.number(std::numbers::pi);
  const std::string y_below = c.add("Less", {y, zero}), x_below = c.add("Less", {x, zero});
  const std::string turn = c.add("Where", {x_below, c.add("Where", {y_below, c.add("Neg", {pi}), pi}), zero});
  const std::string angle = c.add("Add", {c.add("Atan", {c.add("Div", {y, x})}), turn});
  const std::string is_nothing = c.add("And", {c.add("Equal", {y, zero}), c.add("Equal", {x, zero})});
  c.out(c.add("Where", {is_nothing, zero, angle}));
}

// Integers have no result for a divisor of 0: there, as with us, it is 0.
struct Divisor {
  std::string is_zero, safe;
};
Divisor divisor_of(NodeCall& c, const std::string& b) {
  const std::string is_zero = c.add("Equal", {b, c.number(0)});
  return {is_zero, c.add("Where", {is_zero, c.number(1), b})};
}

void floor_divide(NodeCall& c) {
  const std::string a = c.in(0), b = c.in(1);
  if (is_floating(c.dtype())) return c.out(c.add("Floor", {c.add("Div", {a, b})}));
  const Divisor divisor = divisor_of(c, b);
  const std::string quotient = c.add("Div", {c.add("Sub", {a, c.add("Mod", {a, divisor.safe})}), divisor.safe});
  c.out(c.add("Where", {divisor.is_zero, c.number(0), quotient}));
}

void remainder(NodeCall& c) {
  const std::string a = c.in(0), b = c.in(1);
  if (is_floating(c.dtype())) {
    const std::string rest = c.add("Mod", {a, b}, {{"fmod", int64_t{1}}}), zero = c.number(0);
    const std::string other_sign = c.add("Less", {c.add("Mul", {c.add("Sign", {rest}), c.add("Sign", {b})}), zero});
    return c.out(c.add("Where", {other_sign, c.add("Add", {rest, b}), rest}));
  }
  const Divisor divisor = divisor_of(c, b);
  c.out(c.add("Where", {divisor.is_zero, c.number(0), c.add("Mod", {a, divisor.safe})}));
}

void is_nan(NodeCall& c) {
  const std::string x = c.in(0);
  c.out(is_floating(c.dtype()) ? c.add("IsNaN", {x}) : c.add("Less", {x, x}));
}
void is_inf(NodeCall& c) {
  const std::string x = c.in(0);
  c.out(is_floating(c.dtype()) ? c.add("Equal", {c.add("Abs", {x}), c.number(std::numeric_limits<double>::infinity())})
                               : c.add("Less", {x, x}));
}
void is_finite(NodeCall& c) {
  const std::string x = c.in(0);
  c.out(is_floating(c.dtype()) ? c.add("Less", {c.add("Abs", {x}), c.number(std::numeric_limits<double>::infinity())})
                               : c.add("Equal", {x, x}));
}
void sign_bit(NodeCall& c) {
  const std::string x = c.in(0), zero = c.number(0), below = c.add("Less", {x, zero});
  c.out(is_floating(c.dtype()) ? c.add("Or", {below, c.add("Less", {c.add("Reciprocal", {x}), zero})}) : below);
}

void not_equal(NodeCall& c) { c.out(c.add("Not", {c.add("Equal", {c.in(0), c.in(1)})})); }

void where(NodeCall& c) { c.out(c.add("Where", {c.in(0), c.in(1), c.in(2)})); }

// Ours stays within the range of u8; in ONNX that is left open.
void cast(NodeCall& c) {
  const Dtype to = c.out_spec().dtype;
  if (is_floating(c.dtype()) && to == Dtype::u8) return c.out(c.cast(c.add("Clip", {c.in(0), c.number(0), c.number(255)}), to));
  c.out(to == c.spec(0).dtype ? c.in(0) : c.cast(c.in(0), to));
}
void indicator(NodeCall& c) { c.out(c.cast(c.in(0), Dtype::i32)); }

// Of truth values the bits are what they say.
template <const char* of_bits, const char* of_truth>
void bitwise(NodeCall& c) {
  Names inputs;
  for (size_t i = 0; i < c.inputs(); ++i) inputs.push_back(c.in(i));
  c.out(c.add(c.dtype() == Dtype::b8 ? of_truth : of_bits, inputs));
}

constexpr char neg[] = "Neg", absolute[] = "Abs", sign[] = "Sign", root[] = "Sqrt", floor[] = "Floor", ceil[] = "Ceil", round[] = "Round",
               exp[] = "Exp", log[] = "Log", sine[] = "Sin", cosine[] = "Cos", tangent[] = "Tan", sinh[] = "Sinh", cosh[] = "Cosh",
               tanh[] = "Tanh", asin[] = "Asin", acos[] = "Acos", atan[] = "Atan", erf[] = "Erf", sigmoid[] = "Sigmoid",
               softplus[] = "Softplus", sum[] = "Add", sub[] = "Sub", mul[] = "Mul", quotient[] = "Div", max[] = "Max", min[] = "Min",
               power[] = "Pow", both[] = "And", either[] = "Or", differ[] = "Xor", negation[] = "Not", equal[] = "Equal", less[] = "Less",
               less_equal[] = "LessOrEqual", bit_and[] = "BitwiseAnd", bit_or[] = "BitwiseOr", bit_xor[] = "BitwiseXor",
               bit_not[] = "BitwiseNot";

constexpr Rule rules[] = {
    {"negative", one<neg>, {}, true},
    {"abs", one<absolute>, {}, true},
    {"sign", one<sign>, {}, true},
    {"sqrt", one<root>, {}, true},
    {"rsqrt", rsqrt, {}, true},
    {"stop_gradient", same},
    {"floor", rounding<floor>, {}, true},
    {"ceil", rounding<ceil>, {}, true},
    {"trunc", trunc, {}, true},
    {"round", rounding<round>, {}, true},
    {"exp", one<exp>, {}, true},
    {"expm1", expm1, {}, true},
    {"log", one<log>, {}, true},
    {"log1p", log1p, {}, true},
    {"sin", one<sine>, {}, true},
    {"cos", one<cosine>, {}, true},
    {"tan", one<tangent>, {}, true},
    {"sinh", one<sinh>, {}, true},
    {"cosh", one<cosh>, {}, true},
    {"tanh", one<tanh>, {}, true},
    {"asin", one<asin>, {}, true},
    {"acos", one<acos>, {}, true},
    {"atan", one<atan>, {}, true},
    {"erf", one<erf>, {}, true},
    {"sigmoid", one<sigmoid>, {}, true},
    {"softplus", one<softplus>, {}, true},
    {"gelu", gelu, {}, true},
    {"add", one<sum>, {}, true},
    {"subtract", one<sub>, {}, true},
    {"multiply", one<mul>, {}, true},
    {"divide", one<quotient>, {}, true},
    {"maximum", one<max>, {}, true},
    {"minimum", one<min>, {}, true},
    {"pow", one<power>, {}, true},
    {"atan2", atan2, {}, true},
    {"remainder", remainder, {}, true},
    {"floor_divide", floor_divide, {}, true},
    {"logical_and", one<both>},
    {"logical_or", one<either>},
    {"logical_xor", one<differ>},
    {"logical_not", one<negation>},
    {"is_nan", is_nan, {}, true},
    {"is_inf", is_inf, {}, true},
    {"is_finite", is_finite, {}, true},
    {"sign_bit", sign_bit, {}, true},
    {"equal", one<equal>, {}, true},
    {"not_equal", not_equal, {}, true},
    {"less", one<less>, {}, true},
    {"less_equal", one<less_equal>, {}, true},
    {"where", where},
    {"cast", cast},
    {"indicator", indicator},
    {"bitwise_and", bitwise<bit_and, both>},
    {"bitwise_or", bitwise<bit_or, either>},
    {"bitwise_xor", bitwise<bit_xor, differ>},
    {"bitwise_not", bitwise<bit_not, negation>},
    {"left_shift", nullptr, "ONNX shifts unsigned integers, and ours have a sign"},
    {"right_shift", nullptr, "ONNX shifts unsigned integers, and ours have a sign"},
    {"bitcast", nullptr, "ONNX takes no bits for those of another type"},
};

}  // namespace

std::span<const Rule> elementwise_rules() { return rules; }

}  // namespace anyshape::onnx::out
