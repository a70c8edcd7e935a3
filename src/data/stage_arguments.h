// What the stages of a dataset are made of, by name: the stage before them, numbers and callables.
#pragma once
#include <anyshape/dataset.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace anyshape::data {

struct DatasetArguments {
  Dataset dataset;
};
struct BatchArguments {
  Dataset dataset;
  int64_t size;
};
struct CountArguments {
  Dataset dataset;
  int64_t count;
};
struct ZipArguments {
  Dataset x, y;
};
struct MapArguments {
  Dataset dataset;
  std::function<Example(const Example&)> callable;
};
struct FilterArguments {
  Dataset dataset;
  std::function<bool(const Example&)> callable;
};
struct GeneratorArguments {
  std::function<std::function<std::optional<Example>()>()> make;
};
struct FileArguments {
  std::filesystem::path file;
};
struct FolderArguments {
  std::filesystem::path folder;
};
struct PassesOptions {
  int64_t times = -1;
};
struct PrefetchOptions {
  int64_t count = 2;
};
struct NoOptions {};

}  // namespace anyshape::data
