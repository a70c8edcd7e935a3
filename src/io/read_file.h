// Files that are read: regular ones only. A pipe, a device or a socket may never end, and opening one may never return.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace anyshape {

class ReadFile {
 public:
  explicit ReadFile(const std::filesystem::path& path);
  ~ReadFile();
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;

  // What is wrong with the file, as "is a pipe" or "is no file that can be read"; empty where it can be read.
  const std::string& problem() const { return problem_; }
  int64_t size() const { return size_; }  // when it was opened
  // The next bytes: as many as wanted, fewer at the end; -1 where the system refuses to go on.
  int64_t read(char* to, int64_t bytes);
  bool skip(int64_t bytes);  // goes on so many bytes further; false where the system refuses

 private:
  std::string problem_;
  int64_t size_ = 0;
  int file_ = -1;
};

}  // namespace anyshape
