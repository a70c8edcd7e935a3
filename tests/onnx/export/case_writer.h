// Writes a case for tests/onnx/check_export.py: a model, and for each call its inputs and what our own run of it gives.
#pragma once
#include <anyshape/anyshape.h>
#include <anyshape/onnx_export.h>

#include <filesystem>
#include <string>
#include <vector>

namespace anyshape::test {

class CaseWriter {
 public:
  explicit CaseWriter(std::filesystem::path folder);

  // FOLDER/NAME/model.onnx
  std::filesystem::path begin(const std::string& name);
  // FOLDER/NAME/CALL_in_0.npy, ..., CALL_out_0.npy, ...; a ragged tensor as its values and, where it is taken, splits
  void add_call(const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);
  void refuse(const std::string& name, const std::string& why);  // a line in FOLDER/refused.txt

  // A function of any number of tensors, saved by the first call's tensors, and called on all of them.
  using Callable = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
  void write(const std::string& name, const Callable& callable, const std::vector<std::vector<Tensor>>& calls);
  // A model, by what it takes.
  void write(const std::string& name, const Model& model, const onnx::SaveOptions& options, const std::vector<std::vector<Tensor>>& calls);

 private:
  std::filesystem::path folder_, current_;
  int call_ = 0;
};

void write_ops(CaseWriter& writer);
void write_layers(CaseWriter& writer);
void write_models(CaseWriter& writer);
int read_back(const std::filesystem::path& root);  // cases that were written, by our own onnx::load: 0 where all give the same

}  // namespace anyshape::test
