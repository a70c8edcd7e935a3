// Notes off the arguments, and on again inside the trace.
#include "function/noted_arguments.h"

#include "tensor/tensor_impl.h"

#include <algorithm>

namespace anyshape::function_detail {
namespace {

NoteRules known_rules{};

}  // namespace

void set_note_rules(const NoteRules& rules) { known_rules = rules; }

bool has_notes(std::span<const Tensor> tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& tensor) { return tensor.defined() && tensor.impl()->annotations != nullptr; });
}

NotedCall::NotedCall(const FunctionCall& call, std::span<const Tensor> arguments)
    : call_(call), arguments_(arguments.begin(), arguments.end()) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!has_notes({&arguments_[i], 1})) continue;
    if (std::string kind = known_rules.kind(arguments_[i]); !kind.empty())
      noted_.push_back({i, std::move(kind), known_rules.notes(arguments_[i])});
  }
}

std::vector<Tensor> NotedCall::arguments() const {
  std::vector<Tensor> all = arguments_;
  for (const Noted& each : noted_) all.insert(all.end(), each.notes.begin(), each.notes.end());
  return all;
}

FunctionResults NotedCall::run(std::span<const Tensor> tensors) const {
  std::vector<Tensor> own(tensors.begin(), tensors.begin() + static_cast<ptrdiff_t>(arguments_.size()));
  std::span<const Tensor> rest = tensors.subspan(arguments_.size());
  for (const Noted& each : noted_) {
    own[each.argument] = known_rules.noted(own[each.argument], each.kind, rest.first(each.notes.size()));
    rest = rest.subspan(each.notes.size());
  }
  return call_.run(own);
}

std::string NotedCall::key_of(std::string key) const {
  for (const Noted& each : noted_) {
    structure::append_key(key, each.argument);
    structure::append_key(key, each.kind);
  }
  return key;
}

// Every argument says what it carries once one does: a trace without notes has nothing to compare with, one with others has.
structure::Description NotedCall::describe() const {
  structure::Description all = call_.describe();
  const std::vector<std::string> names = all.tensors;
  for (const Noted& each : noted_) {
    all.parts.push_back({"notes of " + names[each.argument], each.kind, structure::Role::Presence});
    for (size_t i = 0; i < each.notes.size(); ++i) all.tensors.push_back(names[each.argument] + "'s " + each.kind);
  }
  return all;
}

}  // namespace anyshape::function_detail
