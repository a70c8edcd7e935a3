// Assignments of this thread that can be taken back: an eager step that fails in the middle leaves every variable as it was.
#pragma once
#include "graph/stateful.h"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace anyshape {

// While it lives, variables that this thread assigns, op by op or by compiled functions, are remembered as they were. What another thread
// assigns meanwhile stays: only where the value is still this thread's own is the one before it given back.
class VariableUndo {
 public:
  VariableUndo();
  ~VariableUndo();
  VariableUndo(const VariableUndo&) = delete;
  VariableUndo& operator=(const VariableUndo&) = delete;

  static VariableUndo* current();
  // Before and after an assignment, in the variable's turn. Both values are held: nobody writes over their memory.
  void remember(const std::shared_ptr<VariableState>& variable);
  void note_assigned(const VariableState& variable) noexcept;
  void restore() noexcept;  // all of them, in one turn

 private:
  struct Change {
    explicit Change(std::shared_ptr<VariableState> changed) : variable(std::move(changed)) {}
    std::shared_ptr<VariableState> variable;
    Tensor before, assigned;  // `assigned` is undefined until then
  };
  VariableUndo* outer_;
  std::map<uint64_t, Change> changes_;  // by id
};

}  // namespace anyshape
