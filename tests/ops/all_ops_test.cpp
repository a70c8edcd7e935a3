// The list of ops: what every entry must have, whatever op it is.
#include "ops/all_ops.h"

#include <gtest/gtest.h>

#include <set>

namespace anyshape {
namespace {

TEST(AllOps, every_op_has_its_rules_and_a_name_of_its_own) {
  std::set<std::string_view> names;
  for (const OpDef* op : all_ops()) {
    EXPECT_TRUE(names.insert(op->name).second) << op->name;
    EXPECT_NE(op->shape, nullptr) << op->name;
    EXPECT_TRUE(op->inputs == 0 || op->dtype != nullptr) << op->name;
    const bool is_control = op->kind == OpKind::Control;
    const int ways = (op->element != nullptr) + (op->reduce != nullptr) + (op->lower != nullptr) + op->is_alias + is_control;
    EXPECT_EQ(ways, 1) << op->name << " needs exactly one way to run";
  }
}

}  // namespace
}  // namespace anyshape
