// Ops on sizes as arithmetic on expressions: what graphs compute of shapes is part of the trace's sizes, and nothing of it runs.
#include "onnx/walk.h"
#include "shape/prove.h"

#include <anyshape/ops.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace anyshape::onnx {
namespace {

using Numbers = std::vector<Dim>;
constexpr size_t most_numbers = 256;  // more are data

// The inputs as numbers, where all are whole and known.
struct Operands {
  std::vector<Numbers> numbers;
  std::vector<bool> is_scalar;
};

std::optional<Operands> operands_of(const NodeCall& call) {
  Operands operands;
  for (size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) {
      operands.numbers.emplace_back();
      operands.is_scalar.push_back(false);
      continue;
    }
    const Value& value = call.value(i);
    if (value.kind() == Value::Kind::Sequence || (!value.is_sizes() && !value.is_constant())) return std::nullopt;
    std::optional<Numbers> known = value.known_sizes();
    if (!known || known->size() > most_numbers) return std::nullopt;
    operands.numbers.push_back(std::move(*known));
    operands.is_scalar.push_back(value.rank() == 0);
  }
  return operands;
}

Value made(Numbers numbers, bool is_scalar, ElementType type) {
  return is_scalar ? Value::size(std::move(numbers.at(0)), type) : Value::sizes(std::move(numbers), type);
}

// Towards 0, as ONNX divides; sizes that may be negative are rare, and their sign must be known.
Dim quotient(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant())
    return b.value() == 0 || (b.value() == -1) ? Dim(b.value() == 0 ? 0 : -a.value()) : Dim(a.value() / b.value());
  return a / b;
}
bool can_divide(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return b.value() != 0;
  return a.lower_bound() >= 0 && b.lower_bound() > 0;
}

using Binary = std::function<Dim(const Dim&, const Dim&)>;

std::optional<Value> binary(const Operands& x, ElementType type, const Binary& op) {
  if (x.numbers.size() != 2) return std::nullopt;
  const size_t a = x.numbers[0].size(), b = x.numbers[1].size();
  if (a != b && a != 1 && b != 1) return std::nullopt;
  Numbers numbers;
  for (size_t i = 0; i < (a == 1 ? b : a); ++i) numbers.push_back(op(x.numbers[0][a == 1 ? 0 : i], x.numbers[1][b == 1 ? 0 : i]));
  return made(std::move(numbers), x.is_scalar[0] && x.is_scalar[1], type);
}

Dim truth(bool holds) { return holds ? 1 : 0; }
// A comparison that the sizes of the first call decide becomes a check of the trace.
Dim is_equal(const Dim& a, const Dim& b) {
  const std::optional<bool> proved = proves_equal(a, b);
  return truth(proved ? *proved : a == b);
}
Dim is_less(const Dim& a, const Dim& b) {
  const std::optional<bool> proved = proves_less(a, b);
  return truth(proved ? *proved : a < b);
}

int64_t from_front(int64_t index, size_t count) { return index < 0 ? index + static_cast<int64_t>(count) : index; }

std::optional<Value> gather(const NodeCall& call, const Operands& x) {
  if (x.is_scalar[0] || call.integer("axis", 0) > 0) return std::nullopt;
  Numbers numbers;
  for (const Dim& index : x.numbers[1]) {
    if (!index.is_constant()) return std::nullopt;
    const int64_t place = from_front(index.value(), x.numbers[0].size());
    if (place < 0 || place >= static_cast<int64_t>(x.numbers[0].size()))
      call.fail("an index is outside", "indices of elements that are there");
    numbers.push_back(x.numbers[0][static_cast<size_t>(place)]);
  }
  return made(std::move(numbers), x.is_scalar[1], call.type(0));
}

std::optional<Value> concat(const NodeCall& call, const Operands& x) {
  Numbers numbers;
  for (size_t i = 0; i < x.numbers.size(); ++i) {
    if (x.is_scalar[i]) return std::nullopt;
    numbers.insert(numbers.end(), x.numbers[i].begin(), x.numbers[i].end());
  }
  return numbers.size() > most_numbers ? std::nullopt : std::optional(Value::sizes(std::move(numbers), call.type(0)));
}

std::optional<Value> slice(const NodeCall& call, const Operands& x) {
  if (x.is_scalar[0]) return std::nullopt;
  const auto bound = [&](size_t input, const char* attribute, int64_t otherwise) -> std::optional<int64_t> {
    if (call.has(input))
      return x.numbers[input].size() == 1 && x.numbers[input][0].is_constant() ? std::optional(x.numbers[input][0].value()) : std::nullopt;
    const std::vector<int64_t> given = call.integers(attribute);
    return given.size() == 1 ? given[0] : otherwise;
  };
  const auto count = static_cast<int64_t>(x.numbers[0].size());
  const std::optional<int64_t> begin = bound(1, "starts", 0), end = bound(2, "ends", count), step = bound(4, "steps", 1);
  if (!begin || !end || !step || *step == 0) return std::nullopt;
  const auto clamped = [&](int64_t place, int64_t lowest, int64_t highest) {
    return std::clamp(place < 0 ? place + count : place, lowest, highest);
  };
  Numbers numbers;
  if (*step > 0) {
    const int64_t last = clamped(*end, 0, count);
    for (int64_t i = clamped(*begin, 0, count); i < last; i += std::min(*step, count))
      numbers.push_back(x.numbers[0][static_cast<size_t>(i)]);
  } else {
    const int64_t last = *end < -count ? -1 : clamped(*end, -1, count - 1);
    for (int64_t i = clamped(*begin, -1, count - 1); i > last; i += std::max(*step, -count))
      numbers.push_back(x.numbers[0][static_cast<size_t>(i)]);
  }
  return Value::sizes(std::move(numbers), call.type(0));
}

std::optional<Value> reshape(const NodeCall& call, const Operands& x) {
  if (x.numbers.size() < 2) return std::nullopt;
  if (x.numbers[1].size() > 1) return std::nullopt;
  if (x.numbers[1].empty()) return x.numbers[0].size() == 1 ? std::optional(Value::size(x.numbers[0][0], call.type(0))) : std::nullopt;
  return Value::sizes(x.numbers[0], call.type(0));
}

std::optional<Value> squeeze(const NodeCall& call, const Operands& x) {
  if (x.is_scalar[0] || x.numbers[0].size() != 1) return std::nullopt;
  return Value::size(x.numbers[0][0], call.type(0));
}
std::optional<Value> unsqueeze(const NodeCall& call, const Operands& x) {
  if (!x.is_scalar[0]) return std::nullopt;
  const size_t axes = call.has(1) ? x.numbers[1].size() : call.integers("axes").size();
  return axes == 1 ? std::optional(Value::sizes(x.numbers[0], call.type(0))) : std::nullopt;
}

std::optional<Value> cast_to(const NodeCall& call, const Operands& x) {
  const ElementType to = call.type("to", ElementType::Undefined);
  const std::optional<Dtype> dtype = dtype_for(to);
  if (!dtype || (*dtype != Dtype::i64 && *dtype != Dtype::i32)) return std::nullopt;
  return made(x.numbers[0], x.is_scalar[0], to);
}

std::optional<Value> where(const NodeCall& call, const Operands& x) {
  if (x.numbers.size() != 3) return std::nullopt;
  size_t count = 1;
  for (const Numbers& numbers : x.numbers) {
    if (numbers.size() != 1) count = numbers.size();
  }
  const auto at = [&](size_t input, size_t i) -> const Dim& { return x.numbers[input][x.numbers[input].size() == 1 ? 0 : i]; };
  Numbers numbers;
  for (const Numbers& each : x.numbers) {
    if (each.size() != 1 && each.size() != count) return std::nullopt;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!at(0, i).is_constant()) return std::nullopt;
    numbers.push_back(at(0, i).value() != 0 ? at(1, i) : at(2, i));
  }
  return made(std::move(numbers), x.is_scalar[0] && x.is_scalar[1] && x.is_scalar[2], call.type(1));
}

std::optional<Value> range(const NodeCall& call, const Operands& x) {
  if (x.numbers.size() != 3) return std::nullopt;
  for (const Numbers& each : x.numbers) {
    if (each.size() != 1 || !each[0].is_constant()) return std::nullopt;
  }
  const int64_t begin = x.numbers[0][0].value(), end = x.numbers[1][0].value(), step = x.numbers[2][0].value();
  if (step == 0) return std::nullopt;
  Numbers numbers;
  for (int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    if (numbers.size() == most_numbers) return std::nullopt;
    numbers.emplace_back(i);
  }
  return Value::sizes(std::move(numbers), call.type(0));
}

std::optional<Value> fill(const NodeCall& call, const Operands& x) {
  if (x.is_scalar[0] || x.numbers[0].size() > 1 || !call.has("value")) return std::nullopt;
  const Value value = call.tensor("value");
  if (is_floating(value.dtype())) return std::nullopt;
  const std::vector<Dim> number = Value(reshape(value.tensor(), {1})).known_sizes().value_or(Numbers());
  if (number.size() != 1) return std::nullopt;
  if (x.numbers[0].empty()) return Value::size(number[0], value.type());
  if (!x.numbers[0][0].is_constant() || x.numbers[0][0].value() < 0 || x.numbers[0][0].value() > static_cast<int64_t>(most_numbers))
    return std::nullopt;
  return Value::sizes(Numbers(static_cast<size_t>(x.numbers[0][0].value()), number[0]), value.type());
}

std::optional<Value> reduce(const NodeCall& call, const Operands& x, const Binary& op, int64_t of_nothing) {
  if (x.is_scalar[0]) return std::nullopt;
  Dim result = x.numbers[0].empty() ? Dim(of_nothing) : x.numbers[0][0];
  for (size_t i = 1; i < x.numbers[0].size(); ++i) result = op(result, x.numbers[0][i]);
  if (x.numbers.size() > 1 && call.has(1) && x.numbers[1].empty() && call.flag("noop_with_empty_axes")) return std::nullopt;
  return made({result}, !call.flag("keepdims", true), call.type(0));
}

std::optional<Value> fold_binary(const NodeCall& call, const Operands& x) {
  static const std::map<std::string_view, Binary> numbers = {{"Add", [](const Dim& a, const Dim& b) { return a + b; }},
                                                             {"Sub", [](const Dim& a, const Dim& b) { return a - b; }},
                                                             {"Mul", [](const Dim& a, const Dim& b) { return a * b; }},
                                                             {"Min", [](const Dim& a, const Dim& b) { return min(a, b); }},
                                                             {"Max", [](const Dim& a, const Dim& b) { return max(a, b); }}};
  static const std::map<std::string_view, Binary> truths = {
      {"Equal", is_equal},
      {"Less", is_less},
      {"Greater", [](const Dim& a, const Dim& b) { return is_less(b, a); }},
      {"LessOrEqual", [](const Dim& a, const Dim& b) { return truth(is_less(b, a).value() == 0); }},
      {"GreaterOrEqual", [](const Dim& a, const Dim& b) { return truth(is_less(a, b).value() == 0); }},
      {"And", [](const Dim& a, const Dim& b) { return truth(a.value() != 0 && b.value() != 0); }},
      {"Or", [](const Dim& a, const Dim& b) { return truth(a.value() != 0 || b.value() != 0); }}};
  if (const auto found = numbers.find(call.op()); found != numbers.end()) return binary(x, call.type(0), found->second);
  if (const auto found = truths.find(call.op()); found != truths.end()) return binary(x, ElementType::Bool, found->second);
  if (call.op() == "Div" || call.op() == "Mod") {
    const bool is_mod = call.op() == "Mod";
    for (const Dim& a : x.numbers[0]) {
      for (const Dim& b : x.numbers[1]) {
        if (!can_divide(a, b)) return std::nullopt;
        if (is_mod && a.lower_bound() < 0) return std::nullopt;
      }
    }
    return binary(x, call.type(0), is_mod ? Binary([](const Dim& a, const Dim& b) { return a % b; }) : Binary(quotient));
  }
  return std::nullopt;
}

Value shape_of(const NodeCall& call) {
  const Shape shape = call.shape(0);
  const int64_t rank = shape.rank();
  const auto held = [&](int64_t axis) { return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank); };
  const int64_t begin = held(call.integer("start", 0)), end = held(call.integer("end", rank));
  Numbers numbers;
  for (int64_t axis = begin; axis < end; ++axis) numbers.push_back(shape[static_cast<int>(axis)]);
  return Value::sizes(std::move(numbers));
}

using Fold = std::optional<Value> (*)(const NodeCall& call, const Operands& x);

}  // namespace

std::optional<Value> fold_sizes(const NodeCall& call) {
  if (call.value(0).kind() == Value::Kind::Sequence) return std::nullopt;
  if (call.op() == "Shape") return shape_of(call);
  if (call.op() == "Size") return Value::size(call.shape(0).count());
  static const std::map<std::string_view, Fold> folds = {
      {"Gather", gather},
      {"Concat", concat},
      {"Slice", slice},
      {"Reshape", reshape},
      {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},
      {"Cast", cast_to},
      {"Where", where},
      {"Range", range},
      {"ConstantOfShape", fill},
      {"Identity", [](const NodeCall& node, const Operands&) { return std::optional(node.value(0)); }},
      {"Neg",
       [](const NodeCall& node, const Operands& x) {
         Numbers numbers;
         for (const Dim& number : x.numbers[0]) numbers.push_back(0 - number);
         return std::optional(made(std::move(numbers), x.is_scalar[0], node.type(0)));
       }},
      {"Not",
       [](const NodeCall&, const Operands& x) {
         Numbers numbers;
         for (const Dim& number : x.numbers[0]) numbers.push_back(truth(number.value() == 0));
         return std::optional(made(std::move(numbers), x.is_scalar[0], ElementType::Bool));
       }},
      {"ReduceProd",
       [](const NodeCall& node, const Operands& x) { return reduce(node, x, [](const Dim& a, const Dim& b) { return a * b; }, 1); }},
      {"ReduceSum",
       [](const NodeCall& node, const Operands& x) { return reduce(node, x, [](const Dim& a, const Dim& b) { return a + b; }, 0); }},
      {"ReduceMax",
       [](const NodeCall& node, const Operands& x) {
         return x.numbers[0].empty() ? std::optional<Value>() : reduce(node, x, [](const Dim& a, const Dim& b) { return max(a, b); }, 0);
       }},
      {"ReduceMin",
       [](const NodeCall& node, const Operands& x) {
         return x.numbers[0].empty() ? std::optional<Value>() : reduce(node, x, [](const Dim& a, const Dim& b) { return min(a, b); }, 0);
       }},
  };
  static constexpr std::array<std::string_view, 3> of_two = {"Gather", "Div", "Mod"};
  if (!call.has(1) && std::ranges::find(of_two, call.op()) != of_two.end()) return std::nullopt;
  const auto found = folds.find(call.op());
  const std::optional<Operands> operands = operands_of(call);
  if (!operands) return std::nullopt;
  return found != folds.end() ? found->second(call, *operands) : fold_binary(call, *operands);
}

}  // namespace anyshape::onnx
