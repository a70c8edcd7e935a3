// Symbols are looked for where they stand: a scan of packed rows brings one for its body.
#include "saved/bound_sizes.h"

#include "graph/regions.h"
#include "ops/all_ops.h"
#include "ops/control/scan.h"
#include "shape/dim_node.h"

#include <unordered_set>

namespace anyshape::saved {
namespace {

class Search final : public AttrVisitor {
 public:
  using AttrVisitor::operator();
  explicit Search(std::span<const Dim> symbols) {
    for (const Dim& symbol : symbols) known_.insert(as_symbol(symbol)->id);
  }
  void operator()(std::string_view, Dim& field) override { look(field); }
  void operator()(std::string_view, Shape& field) override { look_at_all(field); }
  void operator()(std::string_view, std::vector<Dim>& field) override { look_at_all(field); }

  void look_at(const graph::Graph& graph) {
    for (const graph::Value* input : graph.inputs()) look_at_all(input->spec.shape);
    for (const graph::Node* node : graph.nodes()) look_at(*node);
    for (const graph::Check& check : graph.checks) look(check.check.a), look(check.check.b);
  }
  std::optional<std::string> unbound;

 private:
  void look_at(const graph::Node& node) {
    const ScanAttrs* const scan = node.op == &scan_op ? &node.attrs.as<ScanAttrs>() : nullptr;
    const Symbol* const active = scan != nullptr && scan->is_packed() ? as_symbol(scan->active) : nullptr;
    const bool is_new = active != nullptr && known_.insert(active->id).second;
    node.attrs.visit(*this);
    for (const graph::NamedRegion& region : graph::regions_of(node)) look_at(*region.graph);
    if (is_new) known_.erase(active->id);
    if (node.made) known_.insert(as_symbol(node.made->symbol)->id);
    for (const graph::Value* output : node.outputs) look_at_all(output->spec.shape);
  }

  template <class Dims>
  void look_at_all(const Dims& dims) {
    for (const Dim& dim : dims) look(dim);
  }
  void look(const Dim& dim) {
    for_each_symbol(dim, [&](const Symbol& symbol) {
      if (!known_.contains(symbol.id)) unbound = symbol.name;
    });
  }

  std::unordered_set<uint64_t> known_;
};

}  // namespace

std::optional<std::string> unbound_size(const graph::Graph& graph, std::span<const Dim> symbols) {
  Search search(symbols);
  search.look_at(graph);
  return search.unbound;
}

}  // namespace anyshape::saved
