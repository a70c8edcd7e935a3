// Files that are written whole or not at all.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace anyshape {

struct WholeFileOptions {
  mode_t mode = 0666;      // less the process's mask
  bool is_durable = true;  // on the disk before it takes its place; false: a file that may as well be lost with the machine
};

// Writes beside `path` and takes its place by renaming. An ArgumentError that opens with `place` says what the system refused; then, and where
// commit() is never reached, what stood at `path` is still there and nothing else is left behind. A process that is killed leaves its
// draft: the next durable file that is written in the folder removes it.
class WholeFile {
 public:
  WholeFile(std::string place, std::filesystem::path path, WholeFileOptions options = {});
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;
  bool open_draft();
  void discard() noexcept;

  std::string place_;
  std::filesystem::path path_, draft_;
  WholeFileOptions options_;
  int file_ = -1;
};

// Removes the drafts in a folder that nobody writes any more.
void remove_abandoned_drafts(const std::filesystem::path& folder) noexcept;

}  // namespace anyshape
