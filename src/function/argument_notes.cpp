// Notes off the arguments, and on again inside the trace.
#include "function/argument_notes.h"

#include "tensor/tensor_impl.h"

#include <algorithm>

namespace anyshape::function_detail {
namespace {

NoteRules known_rules{};

}  // namespace

void set_note_rules(const NoteRules& rules) { known_rules = rules; }

bool has_notes(std::span<const Tensor> tensors) {
  return std::ranges::any_of(tensors, [](const Tensor& tensor) { return tensor.defined() && tensor.impl()->notes != nullptr; });
}

std::vector<Tensor> NotesOfResults::take_apart(std::vector<Tensor> results) {
  notes_.clear();
  std::vector<Tensor> all = results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!has_notes({&results[i], 1})) continue;
    const NoteKinds kinds = known_rules.kinds(results[i]);
    if (kinds.empty()) continue;
    const std::vector<Tensor> notes = known_rules.notes(results[i]);
    notes_.push_back({i, kinds, notes.size()});
    all.insert(all.end(), notes.begin(), notes.end());
  }
  return all;
}

std::vector<Tensor> NotesOfResults::put_together(std::vector<Tensor> parts) const {
  size_t next = parts.size();
  for (auto each = notes_.rbegin(); each != notes_.rend(); ++each) {
    next -= each->count;
    parts[each->result] = known_rules.with_notes(parts[each->result], each->kinds, std::span(parts).subspan(next, each->count));
  }
  parts.resize(next);
  return parts;
}

CallWithNotes::CallWithNotes(const detail::FunctionCall& call, std::span<const Tensor> arguments)
    : call_(call), arguments_(arguments.begin(), arguments.end()) {
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (!has_notes({&arguments_[i], 1})) continue;
    if (const NoteKinds kinds = known_rules.kinds(arguments_[i]); !kinds.empty())
      notes_.push_back({i, kinds, known_rules.notes(arguments_[i])});
  }
}

std::vector<Tensor> CallWithNotes::arguments() const {
  std::vector<Tensor> all = arguments_;
  for (const NotesOfArgument& each : notes_) all.insert(all.end(), each.notes.begin(), each.notes.end());
  return all;
}

detail::FunctionResults CallWithNotes::run(std::span<const Tensor> tensors) const {
  std::vector<Tensor> own(tensors.begin(), tensors.begin() + static_cast<ptrdiff_t>(arguments_.size()));
  std::span<const Tensor> rest = tensors.subspan(arguments_.size());
  for (const NotesOfArgument& each : notes_) {
    own[each.argument] = known_rules.with_notes(own[each.argument], each.kinds, rest.first(each.notes.size()));
    rest = rest.subspan(each.notes.size());
  }
  return call_.run(own);
}

std::string CallWithNotes::key_of(std::string key) const {
  for (const NotesOfArgument& each : notes_) {
    detail::structure::append_key(key, each.argument);
    append_key(key, each.kinds);
  }
  return key;
}

// Every argument says what it carries once one does: a trace without notes has nothing to compare with, one with others has.
detail::structure::Description CallWithNotes::describe() const {
  detail::structure::Description all = call_.describe();
  const std::vector<std::string> names = all.tensors;
  for (const NotesOfArgument& each : notes_) {
    const std::string words = to_words(each.kinds);
    all.parts.push_back({"notes of " + names[each.argument], words, detail::structure::Role::Notes});
    for (size_t i = 0; i < each.notes.size(); ++i) all.tensors.push_back(names[each.argument] + "'s " + words);
  }
  return all;
}

}  // namespace anyshape::function_detail
