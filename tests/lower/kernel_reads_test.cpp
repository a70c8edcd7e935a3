// What planned kernels read, found when each root was looked at by itself, against a walk through the graph when all is decided.
#include "lower/kernel_reads.h"

#include "lower/lowered.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace anyshape::test {
namespace {

struct Planned {
  explicit Planned(const std::string& text) : graph(graph::parse(text, find_op)), groups(lower::group(*graph, decisions)) {}

  // Ids of what stands in memory on the way to the roots of a kernel.
  void collect(const graph::Node& node, std::set<int>& ids) const {
    for (const graph::Value* input : node.inputs) {
      if (input->node == nullptr || groups.in_memory.contains(input))
        ids.insert(input->id);
      else
        collect(*input->node, ids);
    }
  }
  std::set<int> walked(const lower::PlannedKernel& kernel) const {
    std::set<int> ids;
    for (const graph::Node* root : kernel.roots) collect(*root, ids);
    for (const graph::Node* root : kernel.roots) ids.erase(root->outputs[0]->id);  // what it makes itself
    for (const graph::Node* root : kernel.epilogue.roots) collect(*root, ids);
    return ids;
  }
  static std::set<int> found(const lower::PlannedKernel& kernel) {
    std::set<int> ids;
    for (const lower::MemoryRead& read : kernel.reads.reads) ids.insert(read.value->id);
    for (const graph::Value* value : kernel.reads.whole) ids.insert(value->id);
    return ids;
  }

  Decisions decisions;
  std::unique_ptr<graph::Graph> graph;
  lower::Groups groups;
};

const std::string texts[] = {
    // Loops that are one, of which one result stays inside.
    R"(graph f(%0 x: f32[n, 8], %1 y: f32[8]) {
  %2 = exp(%0) : f32[n, 8]
  %3 = add(%2, %1) : f32[n, 8]
  %4 = multiply(%2, %0) : f32[n, 8]
  return %3, %4
}
)",
    // Gates of one product, with what follows.
    R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 16], %2 c: f32[n, 8]) {
  %3 = matmul(%0, %1) : f32[n, 16]
  %4 = tanh(%3) : f32[n, 16]
  %5 = slice(%4) {begins=[0, 0], sizes=[n, 8], steps=[1, 1]} : f32[n, 8]
  %6 = slice(%4) {begins=[0, 8], sizes=[n, 8], steps=[1, 1]} : f32[n, 8]
  %7 = multiply(%5, %2) : f32[n, 8]
  %8 = add(%7, %6) : f32[n, 8]
  return %8
}
)",
    // A product that is seen under another shape and followed.
    R"(graph f(%0 x: f32[n, 8], %1 w: f32[8, 12], %2 y: f32[3, 4]) {
  %3 = matmul(%0, %1) : f32[n, 12]
  %4 = reshape(%3) {shape=[n, 3, 4]} : f32[n, 3, 4]
  %5 = add(%4, %2) : f32[n, 3, 4]
  return %5
}
)",
    // Rows whose distances the other kernels compute again: a sum over everything, and rows of another length.
    R"(graph f(%0 x: f32[n, 64], %1 dy: f32[n, 64]) {
  %2 = sum(%0) {axes=[1], keep_dims=true} : f32[n, 1]
  %3 = subtract(%0, %2) : f32[n, 64]
  %4 = multiply(%3, %3) : f32[n, 64]
  %5 = sum(%4) {axes=[1]} : f32[n]
  %6 = multiply(%3, %1) : f32[n, 64]
  %7 = sum(%6) {axes=[0, 1]} : f32[]
  return %5, %7
}
)",
    // What is looked up is read as a whole, too.
    R"(graph f(%0 table: f32[m, 4], %1 at: i32[n], %2 bias: f32[4]) {
  %3 = take(%0, %1) {axis=0} : f32[n, 4]
  %4 = add(%3, %2) : f32[n, 4]
  return %4
}
)"};

TEST(KernelReads, are_what_a_walk_through_the_graph_finds) {
  for (const std::string& text : texts) {
    const Planned planned(text);
    for (const lower::PlannedKernel& kernel : planned.groups.kernels) EXPECT_EQ(Planned::found(kernel), planned.walked(kernel)) << text;
  }
}

TEST(KernelReads, of_a_loop_say_at_which_axes_each_value_is_read) {
  const Planned planned(R"(graph f(%0 x: f32[n, 8], %1 y: f32[8], %2 z: f32[8, n]) {
  %3 = add(%0, %1) : f32[n, 8]
  %4 = transpose(%2) {permutation=[1, 0]} : f32[n, 8]
  %5 = multiply(%3, %4) : f32[n, 8]
  return %5
}
)");
  ASSERT_EQ(planned.groups.kernels.size(), 1U);
  const lower::KernelReads& reads = planned.groups.kernels[0].reads;
  std::map<int, std::vector<int>> axes;
  for (const lower::MemoryRead& read : reads.reads) axes[read.value->id].assign(read.axes.begin(), read.axes.end());
  EXPECT_EQ(axes, (std::map<int, std::vector<int>>{{0, {0, 1}}, {1, {1}}, {2, {1, 0}}}));
  EXPECT_EQ(reads.ops.size(), 3U);
  EXPECT_EQ(reads.joins, (std::vector<bool>{false, false})) << "y goes on along the second axis only";
  EXPECT_TRUE(reads.open.empty());
}

TEST(KernelReads, know_along_which_axis_a_size_is_1_only_at_run_time) {
  const Planned planned(R"(graph f(%0 x: f32[n, 8], %1 y: f32[m, 8], %2 z: f32[m, 1]) {
  check add: n broadcasts with m
  check multiply: bcast(n, m) broadcasts with m
  %3 = add(%0, %1) : f32[bcast(n, m), 8]
  %4 = multiply(%3, %2) : f32[bcast(n, m), 8]
  return %4
}
)");
  const lower::KernelReads& reads = planned.groups.kernels.at(0).reads;
  std::vector<std::string> sizes;
  for (const Dim& size : reads.open_sizes(0)) sizes.push_back(to_string(size));
  EXPECT_EQ(sizes, (std::vector<std::string>{"n", "m"})) << "each once";
  EXPECT_TRUE(reads.open_sizes(1).empty());
}

}  // namespace
}  // namespace anyshape::test
