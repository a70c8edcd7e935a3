// Cases that were written before, read back by our own onnx::load: the same numbers again.
#include "onnx/export/case_writer.h"

#include <anyshape/onnx.h>

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

namespace anyshape::test {
namespace {

// What is wrong with one case; nothing where all of its calls give what was written.
std::string difference_in(const std::filesystem::path& folder) {
  const Model model = onnx::load(folder / "model.onnx");
  const auto tensors = [&](int call, const char* kind) {
    std::vector<Tensor> found;
    for (;;) {
      const std::filesystem::path file = folder / fmt::format("{}_{}_{}.npy", call, kind, found.size());
      if (!std::filesystem::exists(file)) return found;
      found.push_back(load_npy(file.string()));
    }
  };
  for (int call = 0;; ++call) {
    const std::vector<Tensor> want = tensors(call, "out");
    if (want.empty()) return call > 0 ? std::string() : "it has no calls";
    const std::vector<Tensor> got = model.outputs(tensors(call, "in"), {.training = false}).tensors();
    if (got.size() != want.size()) return fmt::format("call {}: {} results, expected {}", call, got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      const std::string what = fmt::format("call {}, output {}", call, i);
      if (got[i].dtype() != want[i].dtype() || !got[i].shape().same_as(want[i].shape()))
        return fmt::format("{}: {}{}, expected {}{}", what, to_string(got[i].dtype()), to_string(got[i].shape()),
                           to_string(want[i].dtype()), to_string(want[i].shape()));
      const double tolerance = want[i].dtype() == Dtype::f16 ? 2e-2 : 1e-4;
      if (!all_close(cast(got[i], f64), cast(want[i], f64), {.relative = tolerance, .absolute = tolerance / 10}))
        return fmt::format("{}: other numbers", what);
    }
  }
}

}  // namespace

int read_back(const std::filesystem::path& root) {
  int count = 0, wrong = 0;
  std::vector<std::filesystem::path> folders;
  for (const auto& each : std::filesystem::directory_iterator(root)) {
    if (std::filesystem::exists(each.path() / "model.onnx")) folders.push_back(each.path());
  }
  std::ranges::sort(folders);
  for (const std::filesystem::path& folder : folders) {
    std::string found;
    try {
      found = difference_in(folder);
    } catch (const Error& error) {
      found = error.what();
    }
    ++count;
    if (found.empty()) continue;
    ++wrong;
    std::cout << folder.filename().string() << ": " << found << "\n";
  }
  std::cout << count << " models read back, " << wrong << " wrong\n";
  return wrong == 0 && count > 0 ? 0 : 1;
}

}  // namespace anyshape::test
