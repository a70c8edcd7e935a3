// Temporary file, flush, rename.
#include "io/whole_file.h"

#include <anyshape/error.h>
#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace anyshape {

WholeFile::WholeFile(std::string place, std::filesystem::path path) : place_(std::move(place)), path_(std::move(path)) {
  static std::atomic<uint64_t> next{0};
  // A name that is taken belongs to another process, or to one that ended before it could clean up.
  for (int attempt = 0; attempt < 100 && file_ < 0; ++attempt) {
    temporary_ = path_;
    temporary_ += fmt::format(".{}.{}.temporary", ::getpid(), next.fetch_add(1));
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file_ < 0 && errno != EEXIST) break;
  }
  if (file_ < 0) fail(errno);
}

WholeFile::~WholeFile() { discard(); }

void WholeFile::discard() noexcept {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(temporary_.c_str());
  file_ = -1;
}

void WholeFile::fail(int error) const {
  throw ArgumentError(fmt::format("{}: cannot write \"{}\": {}; expected a path in a folder that may be written.", place_, path_.string(),
                                  std::generic_category().message(error)));
}

void WholeFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void WholeFile::commit() {
  if (::fsync(file_) != 0) fail(errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  ::close(file_);
  file_ = -1;
}

}  // namespace anyshape
