// Opening without waiting for anybody, then asking what was opened: what stands at a path may change in between.
#include "io/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace anyshape {
namespace {

std::string problem_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return {};
  if (S_ISDIR(status.st_mode)) return "is a folder";
  if (S_ISFIFO(status.st_mode)) return "is a pipe";
  if (S_ISSOCK(status.st_mode)) return "is a socket";
  if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) return "is a device";
  return "is no file that can be read";
}

}  // namespace

ReadFile::ReadFile(const std::filesystem::path& path) {
  struct stat status{};
  // A device may do something when it is opened, and a socket cannot be: they are asked for by name first.
  if (::stat(path.c_str(), &status) == 0) problem_ = problem_of(status);
  if (!problem_.empty()) return;
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file_ < 0 || ::fstat(file_, &status) != 0) {
    problem_ = "is no file that can be read";
    return;
  }
  problem_ = problem_of(status);
  size_ = static_cast<int64_t>(status.st_size);
}

ReadFile::~ReadFile() {
  if (file_ >= 0) ::close(file_);
}

int64_t ReadFile::read(char* to, int64_t bytes) {
  int64_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(file_, to + done, static_cast<size_t>(std::min<int64_t>(bytes - done, int64_t{1} << 30)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += got;
  }
  return done;
}

bool ReadFile::skip(int64_t bytes) { return ::lseek(file_, static_cast<off_t>(bytes), SEEK_CUR) >= 0; }

}  // namespace anyshape
