// Saved functions with bytes and words changed: each file loads or is a FormatError, and what loads runs or throws its own exceptions.
// ANYSHAPE_FUZZ_FILES says how many files are tried (one in a hundred of those that load is compiled, the others are interpreted);
// ANYSHAPE_FUZZ_SEED, as printed by a failure, tries that one alone, and ANYSHAPE_FUZZ_KEEP names where its file is left.
#pragma once
#include "io/safetensors.h"
#include "saved/saved.h"

#include <fstream>
#include <iterator>

namespace anyshape::test {

// Files that are changed.
struct SavedSeeds {
  std::vector<io::Safetensors> files;
  std::vector<std::string> bytes, lines;  // of all graphs, to be spliced into others

  template <class AnyFunction>
  void add(const AnyFunction& function) {
    const SavedFile file;
    save(function, file.path());
    std::ifstream in(file.path(), std::ios::binary);
    bytes.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    files.push_back(io::load_safetensors_with_metadata(file.path()));
    for (const auto& [key, text] : files.back().metadata) {
      if (!key.starts_with("graph.")) continue;
      for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) lines.push_back(text.substr(at, text.find('\n', at) + 1 - at));
    }
  }
};

// Tries part `part` of four.
void fuzz_files(const SavedSeeds& seeds, uint64_t part);

}  // namespace anyshape::test
