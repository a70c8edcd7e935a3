// The state of a model as named tensors, and how a file's tensors become it again: all of them or none.
#pragma once
#include "model/compiled.h"
#include "model/model_file.h"

#include <anyshape/model.h>

namespace anyshape::model {

// What no config can make stays an error of save(), or is told in the file: training goes on from it in a program that makes the network itself.
enum class Untold { Refused, Told };
void save_model(const Model& model, const std::filesystem::path& file, Untold untold);

// Values for variables that are assigned when all are known to fit.
class Assignments {
 public:
  explicit Assignments(const ModelFile& file) : file_(file) {}
  // Every variable has a tensor of that name behind `begin`, of its dtype and shape; FormatError otherwise.
  void add(std::string_view begin, const std::vector<std::pair<std::string, Variable>>& variables, const char* advice);
  void add_weights(const AnyLayer& network);  // and there are no further ones in the file
  void add_optimizer(const Optimizer& optimizer);
  void make() const;

 private:
  const ModelFile& file_;
  std::vector<std::pair<Variable, Tensor>> pairs_;
};

// The optimizer's variables under names that differ.
std::vector<std::pair<std::string, Variable>> named_slots(const Optimizer& optimizer);
// Slots that are not made yet begin with the file's values.
void expect_slots(const ModelFile& file, const Optimizer& optimizer);
bool has_slots(const ModelFile& file);

}  // namespace anyshape::model
