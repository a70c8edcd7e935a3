// Random graphs of 3 to 40 ops, with gradients: eager, interpreted and compiled agree at five shapes each, through one trace. A failing
// graph is reduced to a few ops and printed with its text form.
#include "check/random_graph.h"
#include "check/traced.h"
#include "function/compile.h"

#include <anyshape/error.h>
#include <anyshape/ops.h>

#include <gtest/gtest.h>

#include <optional>

namespace anyshape::check {
namespace {

using function_detail::ScopedInterpretation;

enum class How { Interpreted, Compiled };

struct Outcome {
  std::string what;   // empty: all agrees
  std::string graph;  // the trace's text form
};

// Gradients of f32 graphs are sums of many roundings that fusing may order otherwise; of f64 ones too little is lost to matter.
std::string first_difference(const std::vector<Tensor>& got, const std::vector<Tensor>& expected, Dtype dtype) {
  const Closeness tolerance = dtype == Dtype::f64 ? Closeness{1e-9, 1e-9} : Closeness{1e-4, 1e-4};
  for (size_t i = 0; i < got.size(); ++i) {
    const std::string found = difference(got[i], to_flat(expected[i]), tolerance);
    if (!found.empty()) return (i == 0 ? "the result: " : "gradient " + std::to_string(i - 1) + ": ") + found;
  }
  return "";
}

Outcome compare(const RandomGraph& graph, How how, Dtype dtype, const PlantedFault& fault = nullptr) {
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

RandomGraph reduce(const RandomGraph& graph, How how, Dtype dtype, const PlantedFault& fault = nullptr) {
  return reduce_graph(graph, [&](const RandomGraph& candidate) { return !compare(candidate, how, dtype, fault).what.empty(); });
}

void check_graph(const RandomGraph& graph, How how, Dtype dtype) {
  if (compare(graph, how, dtype).what.empty()) return;
  const RandomGraph reduced = reduce(graph, how, dtype);
  const Outcome outcome = compare(reduced, how, dtype);
  ADD_FAILURE() << (how == How::Interpreted ? "interpreted" : "compiled") << " against eager: " << outcome.what << "\n"
                << to_string(reduced) << outcome.graph;
}

// Every graph by the interpreter; every fifth also compiled, for compiling takes most of the time.
void check_graphs(uint64_t first, uint64_t count) {
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    const Dtype dtype = seed % 2 == 0 ? Dtype::f64 : Dtype::f32;
    const RandomGraph graph = draw_graph(seed);
    check_graph(graph, How::Interpreted, dtype);
    if (seed % 5 == 0) check_graph(graph, How::Compiled, dtype);
  }
}

TEST(RandomGraphs, agree_in_all_modes_0_to_124) { check_graphs(0, 125); }
TEST(RandomGraphs, agree_in_all_modes_125_to_249) { check_graphs(125, 125); }
TEST(RandomGraphs, agree_in_all_modes_250_to_374) { check_graphs(250, 125); }
TEST(RandomGraphs, agree_in_all_modes_375_to_499) { check_graphs(375, 125); }

// A fault in the traced run of one op is found by the comparison and reduced to that op alone.
TEST(RandomGraphs, a_failure_is_reduced_to_the_steps_that_matter) {
  const ScopedInterpretation interpretation;  // of the eager side, too: nothing here is about machine code
  for (uint64_t seed = 0;; ++seed) {
    ASSERT_LT(seed, 60U);
    const RandomGraph graph = draw_graph(seed, 20);
    const int blamed = graph.steps[10].op;
    const PlantedFault fault = [&](const GraphStep& step, const Tensor& result) { return step.op == blamed ? result * 1.5 + 1.0 : result; };
    // A step that the output does not depend on does no harm.
    if (compare(graph, How::Interpreted, Dtype::f64, fault).what.empty()) continue;
    const RandomGraph reduced = reduce(graph, How::Interpreted, Dtype::f64, fault);
    EXPECT_EQ(reduced.steps.size(), 1U) << to_string(reduced);
    EXPECT_EQ(reduced.steps[0].op, blamed);
    EXPECT_TRUE(compare(reduced, How::Interpreted, Dtype::f64).what.empty()) << "without the fault it is right";
    return;
  }
}

}  // namespace
}  // namespace anyshape::check
