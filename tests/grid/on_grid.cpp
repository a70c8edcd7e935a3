// Every test of this program runs on the grid, unless it says otherwise: those of the golden files are built into it as they are.
#include "grid/grid_backend.h"

#include <gtest/gtest.h>

#include <optional>

namespace anyshape::test {
namespace {

class OnGrid final : public testing::Environment {
 public:
  void SetUp() override { scope_.emplace(grid()); }
  void TearDown() override { scope_.reset(); }

 private:
  std::optional<runtime::ScopedBackend> scope_;
};

[[maybe_unused]] const auto* const on_grid = testing::AddGlobalTestEnvironment(new OnGrid);

}  // namespace
}  // namespace anyshape::test
