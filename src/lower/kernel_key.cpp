// A walk from the roots to what is in memory; what is met again is told by its number.
#include "lower/kernel_key.h"

#include "base/switches.h"
#include "lower/elements.h"

#include <algorithm>
#include <bit>

namespace anyshape::lower {

using graph::Node;
using graph::Value;

static const Switch equal_groups("equal_groups", "a group that equals an earlier one has its loops");

bool finds_equal_groups() { return !equal_groups.is_off(); }

size_t KernelKey::Hash::operator()(const Words& words) const {
  uint64_t hash = words.size();
  for (const uint64_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15U, hash ^= hash >> 29U;
  return hash;
}

// Attributes of an op, whose fields are always the same ones.
class KernelKey::Fields final : public AttrVisitor {
 public:
  explicit Fields(KernelKey& key) : key_(key) {}
  void operator()(std::string_view, bool& field) override { key_.put(field ? 1 : 0); }
  void operator()(std::string_view, int64_t& field) override { key_.put(static_cast<uint64_t>(field)); }
  void operator()(std::string_view, double& field) override { key_.put(std::bit_cast<uint64_t>(field)); }
  void operator()(std::string_view, Dtype& field) override { key_.put(static_cast<int>(field)); }
  void operator()(std::string_view, Dim& field) override { key_.put(key_.sizes_[field]); }
  void operator()(std::string_view, Shape& field) override { key_.put_shape({field.begin(), field.end()}); }
  void operator()(std::string_view, std::vector<Dim>& field) override { key_.put_shape(field); }
  void operator()(std::string_view, std::vector<int64_t>& field) override {
    key_.put(field.size());
    for (const int64_t each : field) key_.put(static_cast<uint64_t>(each));
  }
  void operator()(std::string_view, RegionGraph&) override { key_.is_shared_ = false; }

 private:
  KernelKey& key_;
};

void KernelKey::add(const Node& root) { put_node(root); }

void KernelKey::add(const PlannedKernel& planned) {
  roots_ = &planned.roots;
  put(static_cast<int>(planned.kind));
  put(planned.roots.size());
  for (const Node* root : planned.roots) {
    if (root->made != nullptr) is_shared_ = false;
    put_input(root->outputs[0]);
  }
  for (const Node* root : planned.roots) {
    for (const Value* output : root->outputs) {
      put(groups_.only_parts.contains(output) ? 1 : 0);
      const auto found = groups_.parts_of.find(output);
      put(found == groups_.parts_of.end() ? 0 : found->second.size());
      if (found == groups_.parts_of.end()) continue;
      for (const PartOf& part : found->second) {
        put(part.axis), put(sizes_[part.begin]);
        put_shape({part.whole->spec.shape.begin(), part.whole->spec.shape.end()});
        put_buffer(part.whole);
      }
    }
  }
  put_reads(planned.reads);
}

void KernelKey::put_shape(std::span<const Dim> sizes) {
  put(sizes.size());
  for (const Dim& size : sizes) put(sizes_[size]);
}

bool KernelKey::is_computed(const Value* value) const {
  if (value->node == nullptr) return false;
  return !groups_.in_memory.contains(value) || (roots_ != nullptr && std::ranges::find(*roots_, value->node) != roots_->end());
}

void KernelKey::put_node(const Node& node) {
  const OpDef& op = *node.op;
  nodes_.push_back(&node);
  put(std::bit_cast<uintptr_t>(&op));
  put(node.outputs.size());
  for (const Value* output : node.outputs) put_value(output);
  Fields fields(*this);
  node.attrs.visit(fields);
  put(node.inputs.size());
  for (const Value* input : node.inputs) put_input(input);
  if (op.kind == OpKind::Random || op.checks_data()) is_shared_ = false;
}

void KernelKey::put_input(const Value* value) {
  if (const int known = number_in(values_, value); known >= 0) return put(known);
  put(values_.size());
  if (is_computed(value)) return put_node(*value->node);
  put_value(value);
}

void KernelKey::put_value(const Value* value) {
  values_.push_back(value);
  const bool flags[] = {groups_.in_memory.contains(value), value->joined, is_at_most_zero(value)};
  put(static_cast<int>(value->spec.dtype) * 8 + (flags[0] ? 4 : 0) + (flags[1] ? 2 : 0) + (flags[2] ? 1 : 0));
  put_shape({value->spec.shape.begin(), value->spec.shape.end()});
  put_shape(value->strides);
  put_buffer(value);
}

void KernelKey::put_buffer(const Value* value) {
  const int buffer = find_buffer_ ? find_buffer_(value) : -1;
  if (buffer < 0) return put(-1);
  int number = number_in(buffers_, buffer);
  if (number < 0) {
    number = static_cast<int>(buffers_.size());
    buffers_.push_back(buffer);
  }
  put(number);
}

void KernelKey::put_known(const Value* value) {
  const int number = number_in(values_, value);
  is_shared_ = is_shared_ && number >= 0;
  put(number);
}

// They follow from the rest, but for what the planner has seen on the way there.
void KernelKey::put_reads(const KernelReads& reads) {
  put(reads.reads.size());
  for (const MemoryRead& read : reads.reads) {
    put_known(read.value);
    for (const int axis : read.axes) put(axis);
  }
  put(reads.whole.size());
  for (const Value* value : reads.whole) put_known(value);
  put(reads.joins.size());
  for (const bool joins : reads.joins) put(joins ? 1 : 0);
  put(reads.open.size());
  for (const OpenSize& open : reads.open) put(open.axis), put(sizes_[open.size]);
}

}  // namespace anyshape::lower
