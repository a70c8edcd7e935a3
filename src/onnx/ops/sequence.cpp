// ONNX's sequences and optionals: they are lists of values while the graph is traced, and nothing of them runs.
#include "onnx/proto.h"
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <algorithm>

namespace anyshape::onnx {
namespace {

constexpr RuleOptions as_held{.takes_images = true};

const std::vector<Value>& elements(const NodeCall& call, size_t input = 0) {
  const Value& value = call.value(input);
  if (value.kind() != Value::Kind::Sequence) call.fail(fmt::format("input {} is no sequence", input), "a sequence");
  return value.elements();
}

size_t place(const NodeCall& call, size_t input, size_t count, bool may_be_end) {
  const int64_t given = call.integer(input), size = static_cast<int64_t>(count);
  const int64_t found = given < 0 ? given + size : given;
  if (found < 0 || found > size || (found == size && !may_be_end))
    call.fail(fmt::format("position {} in a sequence of {}", given, size), "a position inside");
  return static_cast<size_t>(found);
}

Results empty_rule(NodeCall&) { return Value::sequence({}); }

Results construct_rule(NodeCall& call) {
  std::vector<Value> all;
  for (size_t i = 0; i < call.inputs(); ++i) all.push_back(call.value(i));
  return Value::sequence(std::move(all));
}

Results at_rule(NodeCall& call) { return elements(call)[place(call, 1, elements(call).size(), false)]; }

Results length_rule(NodeCall& call) { return Value::size(static_cast<int64_t>(elements(call).size())); }

Results insert_rule(NodeCall& call) {
  std::vector<Value> all = elements(call);
  const size_t where = call.has(2) ? place(call, 2, all.size(), true) : all.size();
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(where), call.value(1));
  return Value::sequence(std::move(all));
}

Results erase_rule(NodeCall& call) {
  std::vector<Value> all = elements(call);
  if (all.empty()) call.fail("the sequence is empty", "one with elements");
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(call.has(1) ? place(call, 1, all.size(), false) : all.size() - 1));
  return Value::sequence(std::move(all));
}

Results concat_rule(NodeCall& call) {
  std::vector<Tensor> parts;
  for (const Value& element : elements(call)) parts.push_back(element.tensor());
  if (parts.empty()) call.fail("the sequence is empty", "one with elements");
  const int64_t axis = call.integer("axis");
  if (call.flag("new_axis")) return stack(parts, {.axis = axis});
  return concat(parts, ConcatOptions{.axis = axis});
}

// Into parts of given sizes, of one size, or of 1.
Results split_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const int64_t axis = call.axis(call.integer("axis", 0), x.rank());
  const Dim size = x.shape()[static_cast<int>(axis)];
  const bool keeps_axis = call.has(1) || call.flag("keepdims", true);
  std::vector<int64_t> lengths;
  const auto count = [&] {
    if (!size.is_constant()) call.unsupported("a sequence of as many parts as an open size says");
    if (size.value() > 4096) call.unsupported("a sequence of more than 4096 parts");
    return size.value();
  };
  if (call.has(1) && call.rank(1) == 1) {
    lengths = call.integers(1);
  } else {
    const int64_t each = call.has(1) ? call.integer(1) : 1;
    if (each < 1) call.fail(fmt::format("parts of {}", each), "at least 1");
    for (int64_t begin = 0, end = count(); begin < end; begin += each) lengths.push_back(std::min(each, end - begin));
  }
  std::vector<Value> parts;
  int64_t begin = 0;
  for (const int64_t length : lengths) {
    std::vector<SliceRange> ranges(static_cast<size_t>(axis));
    ranges.push_back({.begin = begin, .end = begin + length});
    const Tensor part = slice(x, ranges);
    parts.emplace_back(keeps_axis ? part : squeeze(part, axis), call.type(0));
    begin += length;
  }
  return Value::sequence(std::move(parts));
}

// A body for each element; what is no sequence goes to every call as it is.
Results map_rule(NodeCall& call) {
  const GraphProto& body = call.graph("body");
  const size_t count = elements(call).size();
  std::vector<std::vector<Value>> results(body.outputs.size());
  for (size_t i = 0; i < count; ++i) {
    std::vector<Value> inputs;
    for (size_t input = 0; input < call.inputs(); ++input) {
      const Value& value = call.value(input);
      if (value.kind() == Value::Kind::Sequence && i >= value.elements().size())
        call.fail("its sequences differ in length", "equal lengths");
      inputs.push_back(value.kind() == Value::Kind::Sequence ? value.elements()[i] : value);
    }
    std::vector<Value> outputs = call.run(body, std::move(inputs));
    for (size_t output = 0; output < outputs.size(); ++output) results[output].push_back(std::move(outputs[output]));
  }
  std::vector<Value> sequences;
  for (std::vector<Value>& each : results) sequences.push_back(Value::sequence(std::move(each)));
  return Results(std::move(sequences));
}

Results optional_rule(NodeCall& call) { return call.has(0) ? call.value(0) : Value(); }
Results has_element_rule(NodeCall& call) { return Value::size(call.has(0) ? 1 : 0, ElementType::Bool); }
Results get_element_rule(NodeCall& call) { return call.value(0); }

constexpr RuleEntry entries[] = {
    {"SequenceEmpty", 11, empty_rule},
    {"SequenceConstruct", 11, construct_rule, as_held},
    {"SequenceAt", 11, at_rule, as_held},
    {"SequenceLength", 11, length_rule, as_held},
    {"SequenceInsert", 11, insert_rule, as_held},
    {"SequenceErase", 11, erase_rule, as_held},
    {"ConcatFromSequence", 11, concat_rule},
    {"SplitToSequence", 11, split_rule},
    {"SequenceMap", 17, map_rule, as_held},
    {"Optional", 15, optional_rule, as_held},
    {"OptionalHasElement", 15, has_element_rule, as_held},
    {"OptionalGetElement", 15, get_element_rule, as_held},
};

}  // namespace

const RuleTable sequence_rules = entries;

}  // namespace anyshape::onnx
