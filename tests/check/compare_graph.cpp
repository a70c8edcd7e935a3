// Calls, differences, and the failing graph made small.
#include "check/compare_graph.h"

#include "check/traced.h"
#include "function/compile.h"

#include <anyshape/error.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

namespace anyshape::check {
namespace {

using function_detail::ScopedInterpretation;

// Gradients of f32 graphs are sums of many roundings that fusing may order otherwise; of f64 ones too little is lost to matter.
std::string first_difference(const std::vector<Tensor>& got, const std::vector<Tensor>& expected, Dtype dtype) {
  const Closeness tolerance = dtype == Dtype::f64 ? Closeness{1e-9, 1e-9} : Closeness{1e-4, 1e-4};
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string found = difference(got[i], to_flat(expected[i]), tolerance);
    if (!found.empty()) return (i == 0 ? "the result: " : "gradient " + std::to_string(i - 1) + ": ") + found;
  }
  return "";
}

// A trace of its own for each of two calls, whose signature fixes the sizes of that call, or of some of its axes.
Outcome compare_fixed(const RandomGraph& graph, How how, Dtype dtype, const PlantedFault& fault) {
  Outcome outcome;
  Random random(graph.seed + 17);
  for (const int call : {static_cast<int>(graph.seed % graph_calls), static_cast<int>((graph.seed + 2) % graph_calls)}) {
    const std::vector<Tensor> arguments = draw_arguments(graph, call, dtype);
    FunctionOptions options{.name = "fixed", .retrace = Retrace::Allow};
    for (const Tensor& argument : arguments) {
      Shape shape = argument.shape();
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (how == How::SomeFixedSizes && random.chance(50)) shape[axis] = dim(fmt::format("n{}_{}", options.signature.size(), axis));
      }
      options.signature.push_back(spec(argument.dtype(), shape));
    }
    Traced traced([&](std::span<const Tensor> in) { return run_graph(graph, in, fault); }, options);
    try {
      const std::vector<Tensor> eager = run_graph(graph, arguments);
      const ScopedInterpretation interpretation;
      outcome.what = first_difference(traced(arguments), eager, dtype);
    } catch (const Error& error) {
      outcome.what = std::string("thrown: ") + error.what();
    }
    if (outcome.what.empty()) continue;
    outcome.what = "call " + std::to_string(call) + ", " + outcome.what;
    for (const TraceRecord& record : traced.traces()) outcome.graph += record.graph;
    break;
  }
  return outcome;
}

}  // namespace

Outcome compare(const RandomGraph& graph, How how, Dtype dtype, const PlantedFault& fault) {
  if (how == How::FixedSizes || how == How::SomeFixedSizes) return compare_fixed(graph, how, dtype, fault);
  const bool is_taped = how == How::UnderTape || how == How::CompiledUnderTape;
  Traced traced(
      [&](std::span<const Tensor> in) { return is_taped ? std::vector{run_nodes(graph, in, fault)} : run_graph(graph, in, fault); });
  const auto call_traced = [&](const std::vector<Tensor>& arguments) {
    if (!is_taped) return traced(arguments);
    return run_with_gradients([&](std::span<const Tensor> in) { return traced({in.begin(), in.end()})[0]; }, arguments);
  };
  Outcome outcome;
  try {
    for (int call = 0; call < graph_calls && outcome.what.empty(); ++call) {
      const std::vector<Tensor> arguments = draw_arguments(graph, call, dtype);
      const std::vector<Tensor> eager = run_graph(graph, arguments);
      std::optional<ScopedInterpretation> interpretation;
      if (how == How::Interpreted || how == How::UnderTape) interpretation.emplace();
      outcome.what = first_difference(call_traced(arguments), eager, dtype);
      if (!outcome.what.empty()) outcome.what = "call " + std::to_string(call) + ", " + outcome.what;
    }
    if (outcome.what.empty() && traced.stats().traces != 1) outcome.what = std::to_string(traced.stats().traces) + " traces";
  } catch (const Error& error) {
    outcome.what = std::string("thrown: ") + error.what();
  }
  for (const TraceRecord& record : traced.traces()) outcome.graph += record.graph;
  return outcome;
}

RandomGraph reduce(const RandomGraph& graph, How how, Dtype dtype, const PlantedFault& fault) {
  return reduce_graph(graph, [&](const RandomGraph& candidate) { return !compare(candidate, how, dtype, fault).what.empty(); });
}

void check_graph(const RandomGraph& graph, How how, Dtype dtype) {
  if (compare(graph, how, dtype).what.empty()) return;
  const RandomGraph reduced = reduce(graph, how, dtype);
  const Outcome outcome = compare(reduced, how, dtype);
  constexpr const char* names[] = {
      "interpreted", "compiled", "with fixed sizes", "with some fixed sizes", "interpreted under a tape", "compiled under a tape"};
  ADD_FAILURE() << names[static_cast<int>(how)] << " against eager: " << outcome.what << "\n" << to_string(reduced) << outcome.graph;
}

}  // namespace anyshape::check
