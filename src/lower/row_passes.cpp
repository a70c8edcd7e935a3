// Passes by depth: a value belongs to the pass after the deepest reduction it needs.
#include "lower/row_passes.h"

#include "ops/element_cost.h"

#include <anyshape/error.h>

#include <algorithm>
#include <functional>
#include <set>

namespace anyshape::lower {
namespace {

using graph::Node;
using graph::Value;

class Finder {
 public:
  Finder(const Roots& roots, const Groups& groups) : groups_(groups), roots_(roots.begin(), roots.end()) {
    for (const Node* root : roots) visit(*root);
  }

  RowPasses run() {
    found_.rows = find_rows();
    sort_into_passes();
    find_kept();
    const Uses uses = find_uses();
    for (RowPasses::Kept& kept : found_.kept) find_home(kept, *uses.at(kept.value).rbegin());
    return std::move(found_);
  }

 private:
  bool is_inside(const Value* value) const {
    return value->node != nullptr && (roots_.contains(value->node) || !groups_.in_memory.contains(value));
  }

  void visit(const Node& node) {
    const Value* const output = node.outputs[0];
    if (!found_.inside.insert(output).second) return;
    int level = 0;
    for (const Value* input : node.inputs) {
      if (is_inside(input)) visit(*input->node);
      if (const auto known = level_.find(input); known != level_.end()) level = std::max(level, known->second);
    }
    level_[output] = level + (row_space_of(node) ? 1 : 0);
    order_.push_back(&node);
  }

  RowSpace find_rows() const {
    for (const Node* node : order_) {
      if (const std::optional<RowSpace> rows = row_space_of(*node)) return *rows;
    }
    throw InternalError("lower: a kernel over rows has no reduction along them");
  }

  void sort_into_passes() {
    int deepest = 0;
    for (const auto& [value, level] : level_) deepest = std::max(deepest, level);
    found_.passes.resize(static_cast<size_t>(deepest) + 1);
    for (const Node* node : order_) {
      const Value* const output = node->outputs[0];
      const auto level = static_cast<size_t>(level_.at(output));
      const bool is_full = found_.rows.is_full(output->spec.shape);
      if (found_.rows.combines_rows(*node)) {
        found_.passes[level].columns.push_back(node);
      } else if (node->op->reduce != nullptr) {
        found_.passes[level - 1].reductions.push_back(node);
      } else if (is_full && roots_.contains(node)) {
        found_.passes[level].stored.push_back(output);
      } else if (!is_full && found_.rows.is_per_row(output->spec.shape)) {
        found_.passes[level].per_row.push_back(output);
      }
      for (const Value* input : node->inputs) {
        if (!is_inside(input) && found_.rows.is_per_row(input->spec.shape)) found_.given_per_row.push_back(input);
      }
    }
  }

  using Uses = std::unordered_map<const Value*, std::set<int>>;  // the passes that need each value
  Uses find_uses() const {                                       // as long as nothing more is kept
    Uses uses;
    for (int pass = 0; pass < static_cast<int>(found_.passes.size()); ++pass) {
      const std::function<void(const Value*)> need = [&](const Value* value) {
        if (!is_inside(value) || value->node->op->reduce != nullptr || is_per_row(value)) return;
        if (!uses[value].insert(pass).second || is_kept_before(value, pass)) return;
        for (const Value* input : value->node->inputs) need(input);
      };
      for (const Node* reduction : found_.passes[static_cast<size_t>(pass)].reductions) need(reduction->inputs[0]);
      for (const Node* column : found_.passes[static_cast<size_t>(pass)].columns) need(column->inputs[0]);
      for (const Value* stored : found_.passes[static_cast<size_t>(pass)].stored) need(stored);
    }
    return uses;
  }
  bool is_per_row(const Value* value) const { return !found_.rows.is_full(value->spec.shape) && found_.rows.is_per_row(value->spec.shape); }
  bool is_kept_before(const Value* value, int pass) const {
    return std::ranges::any_of(found_.kept, [&](const RowPasses::Kept& kept) { return kept.value == value && kept.pass < pass; });
  }

  // What uses a value comes first: if that is kept, its operands may be needed once only.
  void find_kept() {
    Uses uses = find_uses();
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      const Value* const value = (*node)->outputs[0];
      if ((*node)->op->element == nullptr || !found_.rows.is_full(value->spec.shape)) continue;
      const auto needed = uses.find(value);
      if (needed == uses.end() || needed->second.size() < 2 || element_cost(**node) <= cheaper_than_scratch) continue;
      found_.kept.push_back({value, *needed->second.begin()});
      uses = find_uses();
    }
  }

  void find_home(RowPasses::Kept& kept, int last_use) {
    if (roots_.contains(kept.value->node)) {
      kept.home = kept.value;
      return;
    }
    for (size_t pass = static_cast<size_t>(last_use); pass < found_.passes.size(); ++pass) {
      for (const Value* stored : found_.passes[pass].stored) {
        if (stored->spec.dtype == kept.value->spec.dtype && hosts_.insert(stored).second) {
          kept.home = stored;
          return;
        }
      }
    }
  }

  const Groups& groups_;
  std::unordered_set<const Node*> roots_;
  std::vector<const Node*> order_;  // what a node needs comes before it
  std::unordered_map<const Value*, int> level_;
  std::unordered_set<const Value*> hosts_;
  RowPasses found_;
};

}  // namespace

RowPasses find_passes(const Roots& roots, const Groups& groups) { return Finder(roots, groups).run(); }

}  // namespace anyshape::lower
