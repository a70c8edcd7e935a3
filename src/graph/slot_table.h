// What somebody knows of each value or node of one graph, by its slot: walks over a graph read such a table from the beginning to the end, whatever
// its size. Values and nodes of another graph must not be asked about.
#pragma once
#include "graph/graph.h"

#include <algorithm>
#include <vector>

namespace anyshape::graph {

inline size_t slot_count(const Graph& graph, const Value*) { return graph.value_count(); }
inline size_t slot_count(const Graph& graph, const Node*) { return graph.node_count(); }

template <class Key, class T>
class SlotTable {
 public:
  SlotTable() = default;
  explicit SlotTable(const Graph& graph, const T& initial = T())
      : initial_(initial), entries_(slot_count(graph, static_cast<const Key*>(nullptr)), initial) {}

  // What was added to the graph since has the initial entry. References hold until one of those is written.
  T& operator[](const Key* key) {
    if (key->slot >= entries_.size()) entries_.resize(std::max<size_t>(key->slot + 1, 2 * entries_.size()), initial_);
    return entries_[key->slot];
  }
  const T& at(const Key* key) const { return key->slot < entries_.size() ? entries_[key->slot] : initial_; }

  void reset(const Graph& graph) { entries_.assign(slot_count(graph, static_cast<const Key*>(nullptr)), initial_); }

 private:
  T initial_{};
  std::vector<T> entries_;
};

template <class Key>
class SlotSet {
 public:
  SlotSet() = default;
  explicit SlotSet(const Graph& graph) : table_(graph) {}
  template <class Keys>
  SlotSet(const Graph& graph, const Keys& keys) : table_(graph) {
    for (const Key* key : keys) insert(key);
  }

  bool contains(const Key* key) const { return table_.at(key) != 0; }
  bool insert(const Key* key) { return std::exchange(table_[key], 1) == 0; }  // whether it is new
  void erase(const Key* key) { table_[key] = 0; }

 private:
  SlotTable<Key, char> table_;
};

}  // namespace anyshape::graph
