// Files that are written whole or not at all.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace anyshape {

// Writes beside `path` and takes its place by renaming. An ArgumentError that opens with `place` says what the system refused; then, and where
// commit() is never reached, what stood at `path` is still there and nothing else is left behind.
class WholeFile {
 public:
  WholeFile(std::string place, std::filesystem::path path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  void discard() noexcept;

  std::string place_;
  std::filesystem::path path_, temporary_;
  int file_ = -1;
};

}  // namespace anyshape
