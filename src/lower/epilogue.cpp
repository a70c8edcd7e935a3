// A product (or a convolution, whose rows are pixels) joins the first loop that reads its result at its own index, if all else that the loop reads can be
// there before anybody else reads the result.
#include "lower/epilogue.h"

#include "base/switches.h"
#include "lower/kernel_order.h"
#include "lower/lower_epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace anyshape::lower {
namespace {

const Switch joins_products("epilogue", "what follows a product is computed on its tiles");

using graph::Graph;
using graph::Node;
using graph::Value;

using Values = std::vector<const Value*>;

constexpr size_t nowhere = std::numeric_limits<size_t>::max();

// What the joiner asks about kernels, by number: who reads a value and who writes it, where kernels that were joined count as one.
class KernelIndex {
 public:
  KernelIndex(const Graph& graph, const Groups& groups) : readers_(graph), writer_(graph, nowhere) {
    for (size_t kernel = 0; kernel < groups.kernels.size(); ++kernel) {
      stands_in_.push_back(kernel);
      const PlannedKernel& planned = groups.kernels[kernel];
      for (const MemoryRead& read : planned.reads.reads) add(readers_[read.value], kernel);
      for (const Value* value : planned.reads.whole) add(readers_[value], kernel);
      for (const Node* root : planned.roots) {
        writer_[root] = kernel;
        const auto found = groups.parts_of.find(root->outputs[0]);
        if (found == groups.parts_of.end()) continue;
        for (const PartOf& part : found->second) add(writers_of_parts_[part.whole], kernel);
      }
    }
  }

  void join(size_t kernel, size_t into) { stands_in_[kernel] = into; }

  template <class Visit>
  void for_readers(const Value* value, const Visit& visit) const {
    for (const size_t kernel : readers_.at(value)) visit(stands_in_[kernel]);
  }
  // Those that write the value, or a part of it.
  template <class Visit>
  void for_writers(const Value* value, const Visit& visit) const {
    if (value->node == nullptr) return;
    if (const size_t writer = writer_.at(value->node); writer != nowhere) visit(stands_in_[writer]);
    const auto parts = writers_of_parts_.find(value);
    if (parts == writers_of_parts_.end()) return;
    for (const size_t kernel : parts->second) visit(stands_in_[kernel]);
  }

 private:
  using Kernels = InlineVector<size_t, 2>;

  static void add(Kernels& kernels, size_t kernel) {
    if (kernels.empty() || kernels.back() != kernel) kernels.push_back(kernel);
  }

  graph::SlotTable<Value, Kernels> readers_;
  graph::SlotTable<Node, size_t> writer_;
  std::unordered_map<const Value*, Kernels> writers_of_parts_;  // few have parts
  std::vector<size_t> stands_in_;                               // the kernel that a kernel is part of now
};

class Joiner {
  using Presents = InlineVector<const Value*, 1>;

 public:
  Joiner(const Graph& graph, std::span<const Update> updates, Groups& groups, Decisions& decisions)
      : groups_(groups),
        decisions_(decisions),
        index_(graph, groups),
        order_(groups.kernels.size()),
        results_(graph, graph.outputs),
        present_of_(graph) {
    for (const Update& update : updates) {
      const Value* const next = in_memory_as(graph.outputs[static_cast<size_t>(update.result)]);
      present_of_[next].push_back(graph.inputs()[static_cast<size_t>(update.argument)]);
    }
  }

  void run() {
    for (size_t kernel = 0; kernel < groups_.kernels.size(); ++kernel) {
      if (is_product(groups_.kernels[kernel])) join(kernel);
    }
    std::vector<PlannedKernel> kernels;
    kernels.reserve(groups_.kernels.size());
    for (const size_t kernel : order_.in_order()) kernels.push_back(std::move(groups_.kernels[kernel]));
    groups_.kernels = std::move(kernels);
  }

 private:
  // A product, its result under all its shapes, and who reads it.
  struct Product {
    size_t kernel;
    Values shapes;
    std::vector<size_t> aliases = {};
    size_t loop = nowhere;          // the first that reads it at its own index
    size_t other_reader = nowhere;  // the first beside that
    bool is_result = false;         // of the graph
    bool has(const Value* value) const { return std::ranges::find(shapes, value) != shapes.end(); }
  };

  // Of a kernel that has not been joined to another.
  static bool is_product(const PlannedKernel& kernel) { return !kernel.roots.empty() && kernel.roots[0]->op->kind == OpKind::Contraction; }

  bool is_plain_loop(const PlannedKernel& kernel) const {
    const auto is_part = [&](const Node* root) { return groups_.parts_of.contains(root->outputs[0]); };  // in a larger value
    return std::ranges::none_of(kernel.roots, is_part) && kernel.kind == KernelKind::Single && kernel.epilogue.roots.empty() &&
           is_loop(*kernel.roots[0]);
  }

  Product look_at(size_t kernel) const {
    Product product{.kernel = kernel, .shapes = {groups_.kernels[kernel].roots[0]->outputs[0]}};
    std::vector<size_t> readers;
    for (size_t i = 0; i < product.shapes.size(); ++i) {
      index_.for_readers(product.shapes[i], [&](size_t reader) {
        const Node& root = *groups_.kernels[reader].roots[0];
        if (!root.op->is_alias) return readers.push_back(reader);
        product.shapes.push_back(root.outputs[0]);
        product.aliases.push_back(reader);
      });
    }
    const auto is_before = [&](size_t a, size_t b) { return order_.is_before(a, b); };
    std::ranges::sort(product.aliases, is_before);
    std::ranges::sort(readers, is_before);
    readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
    for (const size_t reader : readers) {
      if (product.loop == nowhere && is_plain_loop(groups_.kernels[reader]) && reads_at_own_index(product, groups_.kernels[reader])) {
        product.loop = reader;
      } else if (product.other_reader == nowhere) {
        product.other_reader = reader;
      }
      if (product.loop != nowhere && product.other_reader != nowhere) break;
    }
    product.is_result = std::ranges::any_of(product.shapes, [&](const Value* shape) { return results_.contains(shape); });
    return product;
  }

  static bool reads_at_own_index(const Product& product, const PlannedKernel& loop) {
    const Shape& space = space_of(*loop.roots[0]);
    const auto is_fine = [&](const MemoryRead& read) { return !product.has(read.value) || read.is_at_own_index(space); };
    return std::ranges::all_of(loop.reads.reads, is_fine) &&
           std::ranges::none_of(loop.reads.whole, [&](const Value* value) { return product.has(value); });
  }

  // Whether the loop makes the next value of a variable from its present one: plan_updates may write it over that.
  bool is_update(size_t loop) const {
    const PlannedKernel& kernel = groups_.kernels[loop];
    return std::ranges::any_of(kernel.roots, [&](const Node* root) {
      const Presents& presents = present_of_.at(root->outputs[0]);
      return !presents.empty() &&
             kernel.reads.any_of([&](const Value* read) { return std::ranges::find(presents, in_memory_as(read)) != presents.end(); });
    });
  }
  static const Value* in_memory_as(const Value* value) {
    while (value->node != nullptr && value->node->op->is_alias) value = value->node->inputs[0];
    return value;
  }

  // The last kernel that writes what the product and its loop read.
  size_t last_needed(const Product& product) const {
    size_t last = product.kernel;
    const auto wait_for = [&](size_t writer) {
      const bool is_alias = std::ranges::find(product.aliases, writer) != product.aliases.end();
      if (!is_alias && order_.is_before(writer, product.loop) && order_.is_before(last, writer)) last = writer;
    };
    const KernelReads& reads = groups_.kernels[product.loop].reads;
    for (const MemoryRead& read : reads.reads) index_.for_writers(read.value, wait_for);
    for (const Value* value : reads.whole) index_.for_writers(value, wait_for);
    return last;
  }

  void join(size_t kernel) {
    const Product product = look_at(kernel);
    const Value* const result = product.shapes[0];
    const auto decide = [&](bool yes, std::string reason) {
      decisions_.push_back({"epilogue", fmt::format("%{} {}", result->id, result->node->op->name), yes, std::move(reason)});
    };
    if (product.loop == nowhere) return decide(false, "no loop reads it at its own index");
    const Roots& roots = groups_.kernels[product.loop].roots;
    const std::string loop = fmt::format("the loop of %{} {}", roots.back()->outputs[0]->id, roots.back()->op->name);
    const size_t last = last_needed(product);
    const bool is_awaited = product.other_reader != nowhere && !order_.is_before(last, product.other_reader);
    if (is_awaited) return decide(false, loop + " waits for what reads the product");
    if (is_update(product.loop)) return decide(false, loop + " can be written over an argument once nothing fails any more");
    if (result->spec.shape[-1].same_as(1)) return decide(false, "its rows are single elements");
    if (!can_follow(*result, groups_.kernels[product.loop])) return decide(false, loop + " does not walk along rows of the product");
    const bool is_read_elsewhere = product.other_reader != nowhere || product.is_result;
    decide(true, loop + (is_read_elsewhere ? " runs on its blocks" : " runs on its blocks, which nobody else reads"));
    move(product, last, is_read_elsewhere);
  }

  // Behind the kernel `last`, with its aliases and its loop.
  void move(const Product& product, size_t last, bool is_read_elsewhere) {
    std::vector<PlannedKernel>& kernels = groups_.kernels;
    PlannedKernel& joined = kernels[product.kernel];
    joined.epilogue.roots = std::exchange(kernels[product.loop].roots, {});
    joined.epilogue.reads = std::exchange(kernels[product.loop].reads, {});
    joined.reads.add(joined.epilogue.reads);
    for (const size_t alias : product.aliases) joined.epilogue.aliases.push_back(std::exchange(kernels[alias].roots, {})[0]);
    if (!is_read_elsewhere) joined.epilogue.written_over = written_over(*product.shapes[0], joined.epilogue.roots);
    if (last != product.kernel) order_.move_behind(product.kernel, last);
    take_in(product.loop, product.kernel);
    for (const size_t alias : product.aliases) take_in(alias, product.kernel);
  }
  void take_in(size_t kernel, size_t into) {
    order_.remove(kernel);
    index_.join(kernel, into);
  }

  static const Value* written_over(const Value& product, const Roots& roots) {
    const auto fits = [&](const Node* root) { return root->outputs[0]->spec.dtype == product.spec.dtype; };
    const auto found = std::ranges::find_if(roots, fits);
    return found == roots.end() ? nullptr : (*found)->outputs[0];
  }

  Groups& groups_;
  Decisions& decisions_;
  KernelIndex index_;
  KernelOrder order_;
  const graph::SlotSet<Value> results_;           // of the graph
  graph::SlotTable<Value, Presents> present_of_;  // the next value of a variable: its present ones
};

}  // namespace

void join_epilogues(const Graph& graph, std::span<const Update> updates, Groups& groups, Decisions& decisions) {
  if (!joins_products.is_off()) Joiner(graph, updates, groups, decisions).run();
}

}  // namespace anyshape::lower
