// Models and functions as ONNX files, which other runtimes run for any of the sizes that are open here.
//   as::onnx::save(model, "model.onnx", {.inputs = {as::spec(as::f32, {as::dim("batch"), 784}, "x")}});
#pragma once
#include <anyshape/function.h>
#include <anyshape/layer.h>
#include <anyshape/spec.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace anyshape::onnx {

/// What save() writes beside the graph.
struct SaveOptions {
  /// What is taken: dtypes, sizes, names. Symbols become the file's names of sizes. None: what the model declares, or the function's signature.
  std::vector<TensorSpec> inputs = {};
  std::vector<std::string> outputs = {};  ///< names of the results; none: the model's, else "output", or "output0", "output1", ...
  int64_t opset = 18;                     ///< the version of ONNX's ops, 18 to 21
  std::string name = {};                  ///< of the graph; none: the model's or function's
};

/// Writes what the model computes outside of training. Weights become initializers under their layers' names. The file is whole, or what was there stays.
/// ArgumentError for a model that is not built or whose inputs nobody says, for what assigns variables, as a training step does, and, in one text, for every op
/// that has no form in ONNX. Rows of unequal length are taken and given as "NAME.values" and "NAME.splits",
/// i64[rows + 1].
void save(const AnyLayer& model, const std::filesystem::path& file, const SaveOptions& options = {});

}  // namespace anyshape::onnx

namespace anyshape::detail {

/// Traces the call on these inputs and writes what it computes. `examples` say the sizes where no spec does.
void save_onnx(const FunctionCore& core, const FunctionCall& call, std::vector<Tensor> examples, const std::filesystem::path& file,
               onnx::SaveOptions options);

}  // namespace anyshape::detail

namespace anyshape::onnx {

/// Writes what a function of tensors computes by its signature, or for `options.inputs`. The function itself is not traced, nor is its ledger touched.
template <class R, class... Args>
  requires(std::is_same_v<std::decay_t<Args>, Tensor> && ...)
void save(const Function<R(Args...)>& function, const std::filesystem::path& file, const SaveOptions& options = {}) {
  const std::array<Tensor, sizeof...(Args)> none{};
  std::apply(
      [&](const auto&... each) {
        const detail::TypedCall<R, Args...> call(function.callable(), each...);
        detail::save_onnx(function.core(), call, {}, file, options);
      },
      none);
}

/// Likewise by examples of the arguments: host values stay as they are, and every size of a tensor is open where neither a signature nor `options.inputs` says
/// otherwise.
template <class R, class... Args>
  requires(sizeof...(Args) > 0)
void save(const Function<R(Args...)>& function, const std::filesystem::path& file, const SaveOptions& options,
          detail::Parameter<Args>... examples) {
  const detail::TypedCall<R, Args...> call(function.callable(), examples...);
  std::vector<Tensor> tensors;
  std::string key;
  call.read(tensors, key);
  detail::save_onnx(function.core(), call, std::move(tensors), file, options);
}

}  // namespace anyshape::onnx
#pragma GCC visibility pop
