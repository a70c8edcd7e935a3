// Cases read, run and compared.
#include "onnx/case.h"

#include "graph/outside_trace.h"
#include "onnx/rule.h"
#include "onnx/tensor_data.h"
#include "onnx/wire.h"
#include "tensor/tensor_impl.h"

#include <anyshape/anyshape.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace anyshape::onnx::test {
namespace {

[[noreturn]] void refuse(std::string_view what) { throw FormatError(fmt::format("test case: {}", what)); }

Value tensor_value(std::string_view bytes) {
  const TensorProto proto = parse_tensor(bytes, "test case");
  return {to_tensor(proto, "test case", {}), proto.type};
}

Value parse_value(std::string_view bytes, const TypeProto& type) {
  if (type.kind == TypeProto::Kind::Tensor || type.kind == TypeProto::Kind::None) return tensor_value(bytes);
  const WireReader::Refuse refusal = refuse;
  WireReader in(bytes, refusal);
  std::vector<Value> elements;
  Value inner;
  const bool is_optional = type.kind == TypeProto::Kind::Optional;
  while (in.next()) {
    if (in.field() == 3 && !is_optional) elements.push_back(tensor_value(in.bytes()));
    if (in.field() == 3 && is_optional) inner = tensor_value(in.bytes());
    if (in.field() == 5 && type.inner != nullptr) {
      Value nested = parse_value(in.bytes(), *type.inner);
      if (is_optional) {
        inner = std::move(nested);
      } else {
        elements.push_back(std::move(nested));
      }
    }
  }
  return is_optional ? inner : Value::sequence(std::move(elements));
}

void flatten(const Value& value, std::vector<Tensor>& tensors) {
  if (value.kind() == Value::Kind::Sequence) {
    for (const Value& element : value.elements()) flatten(element, tensors);
  } else if (value.is_given()) {
    tensors.push_back(value.tensor());
  }
}
Value rebuild(const Value& like, std::span<const Tensor>& tensors) {
  if (like.kind() == Value::Kind::Sequence) {
    std::vector<Value> elements;
    for (const Value& element : like.elements()) elements.push_back(rebuild(element, tensors));
    return Value::sequence(std::move(elements));
  }
  if (!like.is_given()) return {};
  Value value(tensors.front(), like.type());
  tensors = tensors.subspan(1);
  return value;
}

std::vector<Value> traced(const Network& network, const std::vector<Value>& inputs) {
  std::vector<Tensor> tensors;
  for (const Value& input : inputs) flatten(input, tensors);
  std::vector<Value> layout;
  auto call = function(
      [&](const std::vector<Tensor>& given) {
        std::span<const Tensor> rest = given;
        std::vector<Value> values;
        for (const Value& input : inputs) values.push_back(rebuild(input, rest));
        layout = network.run(values);
        std::vector<Tensor> results;
        for (const Value& value : layout) flatten(value, results);
        return results;
      },
      {.name = "case", .check_frozen = false});
  const std::vector<Tensor> results = call(tensors);
  std::span<const Tensor> rest = results;
  std::vector<Value> outputs;
  for (const Value& value : layout) outputs.push_back(rebuild(value, rest));
  return outputs;
}

// Whether numbers are drawn: then no two runs agree in more than dtypes and shapes.
bool draws(const std::vector<NodeProto>& nodes, const ModelProto& model) {
  return std::ranges::any_of(nodes, [&](const NodeProto& node) {
    const auto opset = model.opsets.find(node.domain);
    const RuleEntry* const rule = find_rule(node.domain, node.op, opset == model.opsets.end() ? 1 : opset->second);
    return rule != nullptr && rule->options.is_random && (node.op != "Dropout" || node.inputs.size() > 2);
  });
}

std::string tensor_difference(const Tensor& got, const Tensor& expected, double relative, double absolute) {
  if (got.dtype() != expected.dtype()) return fmt::format("dtype {} instead of {}", to_string(got.dtype()), to_string(expected.dtype()));
  if (!got.shape().same_as(expected.shape()))
    return fmt::format("shape {} instead of {}", to_string(got.shape()), to_string(expected.shape()));
  const auto wide = [](const Tensor& x) { return cast(x, is_floating(x.dtype()) ? Dtype::f64 : Dtype::i64); };
  const Tensor a = row_major(wide(got)), b = row_major(wide(expected));
  if (!is_floating(got.dtype())) return all_equal(a, b) ? "" : fmt::format("{} instead of {}", to_string(got), to_string(expected));
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  // Two units in the last place of halves; and what is left where numbers as large as the largest one cancel.
  if (got.dtype() == Dtype::f16) relative = std::max(relative, 0x1p-9);
  if (got.dtype() == Dtype::bf16) relative = std::max(relative, 0x1p-6);
  if (got.dtype() == Dtype::f32) {
    double largest = 0;
    for (const double each : y) largest = std::isfinite(each) ? std::max(largest, std::abs(each)) : largest;
    absolute = std::max(absolute, 0x1p-21 * largest);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const bool is_same =
        x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i])) || std::abs(x[i] - y[i]) <= absolute + relative * std::abs(y[i]);
    if (!is_same) return fmt::format("element {} of {} is {} instead of {}", i, x.size(), x[i], y[i]);
  }
  return "";
}

}  // namespace

std::optional<std::filesystem::path> cases_folder() {
  const char* const named = std::getenv("ANYSHAPE_ONNX");
  std::filesystem::path folder = named != nullptr ? named : ANYSHAPE_ONNX_CASES;
  if (!std::filesystem::exists(folder / "complete")) return std::nullopt;
  return folder;
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

Value read_value(const std::filesystem::path& file, const TypeProto& type) { return parse_value(bytes_of(file), type); }

std::string difference(const Value& got, const Value& expected, double relative, double absolute) {
  if (got.is_given() != expected.is_given()) return got.is_given() ? "a value instead of nothing" : "nothing instead of a value";
  if (!got.is_given()) return "";
  if ((got.kind() == Value::Kind::Sequence) != (expected.kind() == Value::Kind::Sequence)) return "a sequence and no sequence";
  if (got.kind() != Value::Kind::Sequence) return tensor_difference(got.tensor(), expected.tensor(), relative, absolute);
  if (got.elements().size() != expected.elements().size())
    return fmt::format("{} elements instead of {}", got.elements().size(), expected.elements().size());
  for (size_t i = 0; i < got.elements().size(); ++i) {
    if (std::string told = difference(got.elements()[i], expected.elements()[i], relative, absolute); !told.empty()) return told;
  }
  return "";
}

Outcome run_case(const std::filesystem::path& folder) {
  using Kind = Outcome::Kind;
  try {
    const Network network(parse_model(bytes_of(folder / "model.onnx"), "model.onnx"), "model.onnx", folder, {});
    std::vector<Value> inputs, expected;
    // Inputs that are initializers, too, have no file.
    for (size_t i = 0; i < network.inputs().size(); ++i) {
      const std::filesystem::path file = folder / fmt::format("input_{}.pb", i);
      inputs.push_back(std::filesystem::exists(file) ? read_value(file, network.inputs()[i].type) : Value());
    }
    const std::vector<ValueInfoProto>& outputs = network.model().graph.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) expected.push_back(read_value(folder / fmt::format("output_{}.pb", i), outputs[i].type));
    double relative = 1e-3, absolute = 1e-7;
    std::ifstream(folder / "tolerance") >> relative >> absolute;
    Outcome outcome;
    std::vector<Value> got;
    try {
      got = traced(network, inputs);
    } catch (const Unsupported& problem) {
      if (std::string_view(problem.what()).find("computed from data") == std::string_view::npos) throw;
      got = network.run(inputs);
      outcome.kind = Kind::PassedEagerly;
    }
    if (got.size() != expected.size()) return {Kind::Wrong, fmt::format("{} outputs instead of {}", got.size(), expected.size())};
    const bool is_random = draws(network.model().graph.nodes, network.model());
    for (size_t i = 0; i < got.size(); ++i) {
      if (is_random && got[i].dtype() == expected[i].dtype() && got[i].shape().same_as(expected[i].shape())) continue;
      const std::string told = difference(got[i], expected[i], relative, absolute);
      if (!told.empty()) return {Kind::Wrong, fmt::format("output {}: {}", i, told)};
    }
    return outcome;
  } catch (const Unsupported& problem) {
    return {Kind::Unsupported, problem.what()};
  } catch (const std::exception& problem) {
    return {Kind::Wrong, problem.what()};
  }
}

}  // namespace anyshape::onnx::test
