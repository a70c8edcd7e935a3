// The text form of a graph: printed into the ledger and for people, parsed for tests and hand-written graphs. print(parse(print(g))) is
// print(g); what the text leaves out is the wording of failing checks.
//
//   size time: 1..4096 multiple of 8                 # symbols in order; left out where ranges are open and the order is that of the text
//   graph step(%0 x: f32[batch, time], %1 "my bias": f32[time]) {
//     check add: batch broadcasts with 4             # a size rule of an op; `guard` for one whose failing means another trace
//     %2 = add(%0, %1) : f32[batch, time]
//     %3 = sum(%2) {axes=[1], keep_dims=false} : f32[batch]
//     %4 = cond(%5, %3, %3) {then_inputs=1} : f32[batch]
//       then(%0: f32[batch]) {                         # a region: a graph inside a node, with values of its own
//         %1 = exp(%0) : f32[batch]
//         return %1
//       }
//       ...
//     %5, %6 = scan(%0, %1, %2) {..., active=left, rows=batch, total=n} : f32[batch], f32[n]
//       body(...) {                                    # `left` is the node's own: how many rows have a step, for its regions
//       ...
//     %6, %7 = nonzero(%4) makes nonzero0 : i32[nonzero0, 1], i64[]
//     check add: nonzero0 broadcasts with time       # depends on data, so it stands behind the node that makes its size
//     return %3
//   }
#pragma once
#include "graph/graph.h"
#include "shape/dim_node.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace anyshape::graph {

std::string print(const Graph& graph);
std::string size_lines(std::span<const Symbol> symbols);  // all of them, as print() puts them in front
std::string label(const Node& node);                      // "%12 multiply", as decisions speak of it

// Null for a name that is no op's. The list of ops stands further along the data path, so it is handed in (ops/all_ops.h: find_op).
using FindOp = const OpDef* (*)(std::string_view name);

// FormatError with the line and what was expected. Names of sizes are symbols from their first sight among sizes, inputs or checks. Every
// node must be what its op's rules give, and every size rule they leave open must be proved by the checks.
std::unique_ptr<Graph> parse(std::string_view text, FindOp find_op);

// The same with the sizes that have a name, and with a limit on the memory that the graph takes, of which its own is taken away. Size
// rules that the checks do not prove are checks behind the others: where they were traced, more was known of sizes.
struct Parsed {
  std::unique_ptr<Graph> graph;
  std::map<std::string, Dim, std::less<>> sizes;
};
Parsed parse_within(std::string_view text, FindOp find_op, int64_t& bytes_left);

}  // namespace anyshape::graph
