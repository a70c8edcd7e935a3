// All tables of rules, and the search in them.
#include "onnx/rule.h"

#include <algorithm>
#include <map>

namespace anyshape::onnx {
namespace {

using Key = std::pair<std::string_view, std::string_view>;  // domain, op

const std::map<Key, std::vector<const RuleEntry*>>& all_rules() {
  static const auto* const rules = [] {
    auto* const found = new std::map<Key, std::vector<const RuleEntry*>>();
    for (const RuleTable* table : {&elementwise_rules, &activation_rules, &reduce_rules, &movement_rules, &index_rules, &contraction_rules,
                                   &recurrent_rules, &attention_rules, &quantize_rules, &random_rules, &loss_rules, &make_rules,
                                   &cast_rules, &sequence_rules, &control_rules, &image_rules, &normalization_rules, &signal_rules,
                                   &function_rules, &bitwise_rules, &softmax_rules, &slice_rules, &order_rules, &scatter_rules,
                                   &layer_normalization_rules, &training_rules, &linear_attention_rules, &resize_rules}) {
      for (const RuleEntry& entry : *table) (*found)[{entry.domain, entry.op}].push_back(&entry);
    }
    for (auto& [key, entries] : *found) std::ranges::sort(entries, {}, [](const RuleEntry* entry) { return entry->since; });
    return found;
  }();
  return *rules;
}

}  // namespace

const RuleEntry* find_rule(std::string_view domain, std::string_view op, int64_t opset) {
  const auto found = all_rules().find({domain, op});
  if (found == all_rules().end()) return nullptr;
  const RuleEntry* latest = nullptr;
  for (const RuleEntry* entry : found->second) {
    if (entry->since <= opset) latest = entry;
  }
  return latest;
}

bool is_known_op(std::string_view domain, std::string_view op) { return all_rules().contains({domain, op}); }

}  // namespace anyshape::onnx
