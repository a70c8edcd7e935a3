// A product joins the first loop that reads its result at its own index, if all else that the loop reads can be there before anybody else reads
// the result.
#include "lower/epilogue.h"

#include "base/switches.h"
#include "lower/lower_epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace anyshape::lower {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;

using Values = std::vector<const Value*>;

constexpr size_t nowhere = std::numeric_limits<size_t>::max();

class Joiner {
 public:
  Joiner(const Graph& graph, std::span<const Update> updates, Groups& groups, Decisions& decisions)
      : graph_(graph), updates_(updates), groups_(groups), decisions_(decisions) {}

  void run() {
    Roots products;
    for (const PlannedKernel& kernel : groups_.kernels) {
      if (kernel.roots[0]->op->kind == OpKind::Contraction) products.push_back(kernel.roots[0]);
    }
    for (const Node* product : products) {
      const auto found = std::ranges::find(groups_.kernels, product, [](const PlannedKernel& kernel) { return kernel.roots[0]; });
      join(static_cast<size_t>(found - groups_.kernels.begin()));
    }
  }

 private:
  // A product, its result under all its shapes, and who reads it. Numbers are places in the list of kernels.
  struct Product {
    size_t kernel;
    Values shapes;
    std::vector<size_t> aliases = {};
    size_t loop = nowhere;          // the first that reads it at its own index
    size_t other_reader = nowhere;  // the first beside that
    bool is_result = false;         // of the graph
    bool has(const Value* value) const { return std::ranges::find(shapes, value) != shapes.end(); }
  };

  bool is_plain_loop(const PlannedKernel& kernel) const {
    const auto is_placed = [&](const Node* root) { return groups_.places.contains(root->outputs[0]); };  // in a larger value
    return std::ranges::none_of(kernel.roots, is_placed) && kernel.kind == KernelKind::Single && kernel.epilogue.roots.empty() &&
           is_loop(*kernel.roots[0]);
  }

  Product look_at(size_t kernel) const {
    Product product{.kernel = kernel, .shapes = {groups_.kernels[kernel].roots[0]->outputs[0]}};
    for (size_t i = kernel + 1; i < groups_.kernels.size(); ++i) {
      const PlannedKernel& reader = groups_.kernels[i];
      if (!reader.reads.any_of([&](const Value* value) { return product.has(value); })) continue;
      if (reader.roots[0]->op->is_alias) {
        product.shapes.push_back(reader.roots[0]->outputs[0]);
        product.aliases.push_back(i);
      } else if (product.loop == nowhere && is_plain_loop(reader) && reads_at_own_index(product, reader)) {
        product.loop = i;
      } else if (product.other_reader == nowhere) {
        product.other_reader = i;
      }
    }
    product.is_result = std::ranges::any_of(graph_.outputs, [&](const Value* output) { return product.has(output); });
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
    return std::ranges::any_of(updates_, [&](const Update& update) {
      const Value* const next = in_memory_as(graph_.outputs[static_cast<size_t>(update.result)]);
      const Value* const present = graph_.inputs()[static_cast<size_t>(update.argument)];
      return std::ranges::any_of(groups_.kernels[loop].roots, [&](const Node* root) { return root->outputs[0] == next; }) &&
             groups_.kernels[loop].reads.any_of([&](const Value* read) { return in_memory_as(read) == present; });
    });
  }
  static const Value* in_memory_as(const Value* value) {
    while (value->node != nullptr && value->node->op->is_alias) value = value->node->inputs[0];
    return value;
  }

  // Whether the node writes its result as a part of `whole`.
  bool is_placed_in(const Node& node, const Value* whole) const {
    const auto found = groups_.places.find(node.outputs[0]);
    return found != groups_.places.end() && std::ranges::any_of(found->second, [&](const Place& place) { return place.whole == whole; });
  }

  // The last kernel that writes what the product and its loop read.
  size_t last_needed(const Product& product) const {
    size_t last = product.kernel;
    for (size_t i = product.kernel + 1; i < product.loop; ++i) {
      const auto writes = [&](const Value* read) {
        const Roots &roots = groups_.kernels[i].roots, &after = groups_.kernels[i].epilogue.roots;
        const Node* const writer = read->node;
        const auto is_part = [&](const Node* root) { return is_placed_in(*root, read); };
        return std::ranges::find(roots, writer) != roots.end() || std::ranges::find(after, writer) != after.end() ||
               std::ranges::any_of(roots, is_part);
      };
      const bool is_alias = std::ranges::find(product.aliases, i) != product.aliases.end();
      if (!is_alias && groups_.kernels[product.loop].reads.any_of(writes)) last = i;
    }
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
    if (product.other_reader <= last) return decide(false, loop + " waits for what reads the product");
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
    PlannedKernel joined = std::move(kernels[product.kernel]);
    joined.epilogue.roots = std::move(kernels[product.loop].roots);
    joined.epilogue.reads = std::move(kernels[product.loop].reads);
    joined.reads.add(joined.epilogue.reads);
    std::vector<size_t> gone = {product.kernel, product.loop};
    for (const size_t alias : product.aliases) {
      joined.epilogue.aliases.push_back(kernels[alias].roots[0]);
      gone.push_back(alias);
    }
    if (!is_read_elsewhere) joined.epilogue.place = place_of(*product.shapes[0], joined.epilogue.roots);
    std::vector<PlannedKernel> order;
    std::ptrdiff_t place = 0;
    for (size_t i = 0; i < kernels.size(); ++i) {
      if (std::ranges::find(gone, i) == gone.end()) order.push_back(std::move(kernels[i]));
      if (i == last) place = static_cast<std::ptrdiff_t>(order.size());
    }
    order.insert(order.begin() + place, std::move(joined));
    kernels = std::move(order);
  }

  static const Value* place_of(const Value& product, const Roots& roots) {
    const auto fits = [&](const Node* root) { return root->outputs[0]->spec.dtype == product.spec.dtype; };
    const auto found = std::ranges::find_if(roots, fits);
    return found == roots.end() ? nullptr : (*found)->outputs[0];
  }

  const Graph& graph_;
  std::span<const Update> updates_;
  Groups& groups_;
  Decisions& decisions_;
};

}  // namespace

void join_epilogues(const Graph& graph, std::span<const Update> updates, Groups& groups, Decisions& decisions) {
  if (!is_switched_off("epilogue")) Joiner(graph, updates, groups, decisions).run();
}

}  // namespace anyshape::lower
