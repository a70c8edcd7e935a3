// What a kernel reads from memory, and where: at the element that it works on, or elsewhere. Found once for each kernel, when it is planned, and
// asked by all that decide about kernels or write their loops.
#pragma once
#include "graph/graph.h"

#include <functional>
#include <memory>
#include <vector>

namespace anyshape::lower {

struct Groups;

// Nodes whose results one kernel writes: several where they walk the same elements, else one.
using Roots = std::vector<const graph::Node*>;

struct MemoryRead {
  // How an axis of the value is indexed, if not by an axis of the loops.
  static constexpr int at_zero = -1, elsewhere = -2;

  const graph::Value* value = nullptr;
  InlineVector<int, 4> axes;  // for each axis of the value the axis of the loops that indexes it

  bool is_in_order(size_t count) const;  // the first axes are indexed by the first ones of the loops
  bool is_in_order() const { return is_in_order(axes.size()); }
  // Of the very element that loops over `space` are at: all of it is read so, and not a slice that begins where it does.
  bool is_at_own_index(const Shape& space) const { return is_in_order() && value->spec.shape.same_as(space); }
};

// A size along an axis of the loops that is 1 or not only at run time.
struct OpenSize {
  int axis;
  Dim size;
};

struct KernelReads {
  std::vector<MemoryRead> reads;
  InlineVector<const graph::Value*, 3> whole;  // read before the loops begin, or out of order
  std::vector<const graph::Node*> indexed;     // ops whose indices are checked before the loops begin
  InlineVector<const graph::Node*, 4> ops;     // computed in the loops, each once: few, so that they are looked through
  std::vector<bool> joins;                     // per axis of the loops, if there are some over one space: see find_joins
  std::vector<OpenSize> open;                  // each once

  // Those of loops over the same space, or of whatever loops where `joins` is empty.
  void add(const KernelReads& other);
  void drop(const std::function<bool(const graph::Value*)>& is_made);  // a kernel does not read from memory what it makes
  bool any_of(const std::function<bool(const graph::Value*)>& is) const;
  bool add_op(const graph::Node* node);  // whether it is new
  void add_open(const OpenSize& size);
  std::vector<Dim> open_sizes(int axis) const;
};

class KnownReads;  // of one graph, by the keys of the loops

// Of the loops that end in `root`, by what is in memory now. What is neither a loop over elements nor a reduction reads all its inputs as a
// whole.
KernelReads find_reads(const graph::Node& root, const Groups& groups);
KernelReads find_reads(const Roots& roots, const Groups& groups);  // of loops over one space

// What is read where the indices or row splits of an indexed op are checked.
void add_checked(const graph::Node& indexed, KernelReads& found);

bool is_loop(const graph::Node& node);           // an op that is said element by element
const Shape& space_of(const graph::Node& root);  // that its loops walk: its result, or what it reduces

}  // namespace anyshape::lower
