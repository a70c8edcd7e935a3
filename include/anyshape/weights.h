// Weights from files: what load_weights() asks of one, and how the weights of another library are found in it and turned.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape {

/// How the weights of a file lie, and how they are called.
enum class WeightLayout : uint8_t {
  Keras,    ///< as save_weights() and Keras have them: "encoder/dense_1/kernel", [in, out]
  PyTorch,  ///< as a PyTorch module has them: "encoder.linear1.weight", [out, in]; every layer turns those of the module that it stands for
};

/// Which of the file's names belong to which of the model's: {{"encoder/dense_1", "encoder.layers.0.linear1"}, {"head", "fc"}}. On the left stands
/// the path of a layer, of a part of one ("attention/query"), or of a weight ("head/kernel"); "" is the model. On the right stands the module, or
/// the tensor for a weight; a star is where the tensors' own names go: "fc" is "fc.*", and "rnn.*_l1" the second level of a recurrent module.
/// Layers inside one that is named follow it; others have their own path.
class WeightNames {
 public:
  using Entry = std::pair<std::string, std::string>;                         ///< ours, theirs
  using Callable = std::function<std::string(const std::string& our_path)>;  ///< of a layer; "" for one that has its own path

  WeightNames() = default;
  WeightNames(std::initializer_list<Entry> entries) : entries_(entries) {}
  WeightNames(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  /// Asked for every layer inside the model, also those that hold others.
  template <class Function>
    requires std::is_invocable_r_v<std::string, const Function&, const std::string&>
  WeightNames(Function callable) : callable_(std::move(callable)) {}

  const std::vector<Entry>& entries() const { return entries_; }  ///< in the order in which they were given
  const Callable& callable() const { return callable_; }          ///< empty where there are entries

 private:
  std::vector<Entry> entries_;
  Callable callable_;
};

/// What load_weights() asks of a file. Floating elements of another dtype than the weight's are converted, and told.
struct LoadOptions {
  bool strict = true;  ///< every weight of the file and of the model matches; otherwise what fits is taken, and the rest is told
  WeightLayout layout = WeightLayout::Keras;
  WeightNames names = {};
  /// WeightLayout::PyTorch: modules are found by kind and sizes instead of by name; equal ones stand in the order of the numbers in their names,
  /// and where the names have no such order it is a FormatError.
  bool match_by_order = false;
  /// WeightLayout::PyTorch: Dense layers behind an image that was flattened, and its sizes there: {{"dense", {channels, height, width}}}. Their
  /// rows are put into the order in which an image with the channels last is flattened; {}: they are in that order already.
  std::map<std::string, std::vector<int64_t>> flattened = {};
};

/// What load_weights() took and what it did not.
struct LoadReport {
  std::vector<std::string> missing = {};     ///< weights of the model that the file has not
  std::vector<std::string> unexpected = {};  ///< in the file only
  std::vector<std::string> mismatched = {};  ///< of another shape or dtype
  std::vector<std::string> converted = {};   ///< taken from another floating dtype: "dense/kernel from f16"
  std::vector<std::string> matched = {};     ///< what was taken for what: "dense/kernel from fc.weight"
};

}  // namespace anyshape
#pragma GCC visibility pop
