// Calls, differences, and the failing graph made small.
#include "check/compare_graph.h"

#include "check/traced.h"
#include "function/compile.h"

#include <anyshape/error.h>

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

}  // namespace

Outcome compare(const RandomGraph& graph, How how, Dtype dtype, const PlantedFault& fault) {
  Traced traced([&](std::span<const Tensor> in) { return run_graph(graph, in, fault); });
  Outcome outcome;
  try {
    for (int call = 0; call < graph_calls && outcome.what.empty(); ++call) {
      const std::vector<Tensor> arguments = draw_arguments(graph, call, dtype);
      const std::vector<Tensor> eager = run_graph(graph, arguments);
      std::optional<ScopedInterpretation> interpretation;
      if (how == How::Interpreted) interpretation.emplace();
      outcome.what = first_difference(traced(arguments), eager, dtype);
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
  ADD_FAILURE() << (how == How::Interpreted ? "interpreted" : "compiled") << " against eager: " << outcome.what << "\n"
                << to_string(reduced) << outcome.graph;
}

}  // namespace anyshape::check
