// What an eager step that fails takes back: its own assignments, and no other thread's.
#include "graph/variable_undo.h"

#include <anyshape/anyshape.h>

#include <gtest/gtest.h>

#include <thread>

namespace anyshape {
namespace {

float value_of(const Variable& variable) { return variable.read().item<float>(); }

void elsewhere(const auto& body) { std::thread(body).join(); }

TEST(VariableUndo, takes_back_assignments_of_ops_and_of_functions) {
  const Variable a(Tensor(1.0f)), b(Tensor(2.0f));
  auto increase = function([&](Tensor by) { b.assign_add(by); }, {.name = "increase"});
  VariableUndo undo;
  a.assign(Tensor(5.0f));
  a.assign_add(Tensor(1.0f));
  increase(Tensor(3.0f));
  increase(Tensor(3.0f));
  EXPECT_EQ(value_of(b), 8);
  undo.restore();
  EXPECT_EQ(value_of(a), 1);
  EXPECT_EQ(value_of(b), 2);
}

TEST(VariableUndo, keeps_what_another_thread_assigned_after) {
  const Variable a(Tensor(1.0f)), b(Tensor(2.0f)), c(Tensor(3.0f));
  auto increase = function([&](Tensor by) { b.assign_add(by); }, {.name = "increase"});
  increase(Tensor(0.0f));
  VariableUndo undo;
  a.assign(Tensor(5.0f));
  increase(Tensor(10.0f));
  c.assign(Tensor(5.0f));
  elsewhere([&] {
    a.assign_add(Tensor(20.0f));
    for (int i = 0; i < 3; ++i) increase(Tensor(100.0f));
  });
  undo.restore();
  EXPECT_EQ(value_of(a), 25);
  EXPECT_EQ(value_of(b), 312);
  EXPECT_EQ(value_of(c), 3);
}

TEST(VariableUndo, keeps_what_another_thread_assigned_in_between) {
  const Variable a(Tensor(1.0f));
  VariableUndo undo;
  a.assign(Tensor(5.0f));
  elsewhere([&] { a.assign(Tensor(7.0f)); });
  a.assign(Tensor(9.0f));
  undo.restore();
  EXPECT_EQ(value_of(a), 7);
}

TEST(VariableUndo, inside_another_gives_back_to_it) {
  const Variable a(Tensor(1.0f));
  VariableUndo outer;
  a.assign(Tensor(2.0f));
  {
    VariableUndo inner;
    a.assign(Tensor(3.0f));
    inner.restore();
  }
  EXPECT_EQ(value_of(a), 2);
  outer.restore();
  EXPECT_EQ(value_of(a), 1);
}

}  // namespace
}  // namespace anyshape
