// What layers note on tensors (masks, logits) at the border of a trace: notes on arguments are arguments of their own, behind the others,
// and which there are is part of the key.
#pragma once
#include "function/note_kinds.h"

#include <anyshape/function.h>

#include <span>
#include <string>
#include <vector>

namespace anyshape::function_detail {

// How notes are read and written; given once, by the folder that knows them.
struct NoteRules {
  NoteKinds (*kinds)(const Tensor& tensor);
  std::vector<Tensor> (*notes)(const Tensor& tensor);  // one of each kind: the mask, then the logits
  Tensor (*with_notes)(const Tensor& tensor, const NoteKinds& kinds, std::span<const Tensor> notes);
};
void set_note_rules(const NoteRules& rules);

bool has_notes(std::span<const Tensor> tensors);

// Results that carry notes, at the end of a trace: their notes are results of their own, behind the others.
class NotesOfResults {
 public:
  std::vector<Tensor> take_apart(std::vector<Tensor> results);
  std::vector<Tensor> put_together(std::vector<Tensor> parts) const;

 private:
  struct NotesOfResult {
    size_t result;
    NoteKinds kinds;
    size_t count;
  };
  std::vector<NotesOfResult> notes_;
};

// A call whose arguments carry notes, as one with more arguments.
class CallWithNotes final : public detail::FunctionCall {
 public:
  CallWithNotes(const detail::FunctionCall& call, std::span<const Tensor> arguments);

  std::vector<Tensor> arguments() const;  // the call's, then their notes
  detail::FunctionResults run(std::span<const Tensor> tensors) const override;
  std::string key() const override { return key_of(call_.key()); }
  std::string key_of(std::string key) const;  // of the call's own key
  detail::structure::Description describe() const override;

 private:
  struct NotesOfArgument {
    size_t argument;
    NoteKinds kinds;
    std::vector<Tensor> notes;
  };
  const detail::FunctionCall& call_;
  std::vector<Tensor> arguments_;
  std::vector<NotesOfArgument> notes_;  // of the arguments that have any
};

}  // namespace anyshape::function_detail
