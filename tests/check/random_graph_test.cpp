// Random graphs of 3 to 40 ops, with gradients: eager, interpreted and compiled agree at five shapes each, through one trace. A failing
// graph is reduced to a few ops and printed with its text form.
#include "check/compare_graph.h"
#include "check/test_share.h"
#include "function/compile.h"

#include <anyshape/ops.h>

#include <gtest/gtest.h>

namespace anyshape::check {
namespace {

using function_detail::ScopedInterpretation;

// Every graph by the interpreter, with symbolic sizes and with some or all fixed; every fifth also compiled, for compiling takes most of the
// time.
void check_graphs(uint64_t first, int all) {
  const uint64_t end = first + static_cast<uint64_t>(share_of(all, 20));  // every way of checking is taken in turn within twenty
  for (uint64_t seed = first; seed < end && !testing::Test::HasFailure(); ++seed) {
    const Dtype dtype = seed % 2 == 0 ? Dtype::f64 : Dtype::f32;
    const RandomGraph graph = draw_graph(seed);
    check_graph(graph, How::Interpreted, dtype);
    check_graph(graph, seed % 4 < 2 ? How::FixedSizes : How::SomeFixedSizes, dtype);
    if (seed % 3 == 0) check_graph(graph, How::UnderTape, dtype);
    if (seed % 5 == 0) check_graph(graph, How::Compiled, dtype);
    if (seed % 10 == 1) check_graph(graph, How::CompiledUnderTape, dtype);
  }
}

TEST(RandomGraphs, agree_in_all_modes_0_to_124) { check_graphs(0, 125); }
TEST(RandomGraphs, agree_in_all_modes_125_to_249) { check_graphs(125, 125); }
TEST(RandomGraphs, agree_in_all_modes_250_to_374) { check_graphs(250, 125); }
TEST(RandomGraphs, agree_in_all_modes_375_to_499) { check_graphs(375, 125); }

// A fault in the traced run of one op is found by the comparison and reduced to that op alone.
TEST(RandomGraphs, a_failure_is_reduced_to_the_nodes_that_matter) {
  const ScopedInterpretation interpretation;  // of the eager side, too: nothing here is about machine code
  for (uint64_t seed = 0;; ++seed) {
    ASSERT_LT(seed, 60U);
    const RandomGraph graph = draw_graph(seed, 20);
    const int blamed = graph.nodes[10].op;
    const PlantedFault fault = [&](const GraphNode& node, const Tensor& result) { return node.op == blamed ? result * 1.5 + 1.0 : result; };
    // A node that the output does not depend on does no harm.
    if (compare(graph, How::Interpreted, Dtype::f64, fault).what.empty()) continue;
    const RandomGraph reduced = reduce(graph, How::Interpreted, Dtype::f64, fault);
    EXPECT_EQ(reduced.nodes.size(), 1U) << to_string(reduced);
    EXPECT_EQ(reduced.nodes[0].op, blamed);
    EXPECT_TRUE(compare(reduced, How::Interpreted, Dtype::f64).what.empty()) << "without the fault it is right";
    return;
  }
}

}  // namespace
}  // namespace anyshape::check
