// Safetensors files: named tensors behind a JSON header.
#pragma once
#include <anyshape/tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace anyshape::io {

using Metadata = std::map<std::string, std::string>;  // texts beside the tensors, by name

// Whole or not at all. ArgumentError, before the file is touched, for what load_safetensors would refuse: two tensors of one name, or one
// that is named "__metadata__".
void save_safetensors(const std::filesystem::path& file, const std::vector<std::pair<std::string, Tensor>>& tensors,
                      const Metadata& metadata = {});
// FormatError for a file that is damaged, cut short or something else; nothing is allocated before the file is known to hold it.
std::map<std::string, Tensor> load_safetensors(const std::filesystem::path& file);

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  Metadata metadata;
  int64_t bytes = 0;  // of the file
};
Safetensors load_safetensors_with_metadata(const std::filesystem::path& file);  // likewise

}  // namespace anyshape::io
