// Draft, flush, rename. A draft has a name that no other process can have, and is locked as long as somebody writes it: one that can be locked
// was abandoned. The system drops the lock with the process, however it ends.
#include "io/whole_file.h"

#include <anyshape/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>

namespace anyshape {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view draft_start = "anyshape-", draft_end = ".draft";
constexpr size_t draft_digits = 16;

std::string new_draft_name() {
  std::random_device system;
  const uint64_t number = (static_cast<uint64_t>(system()) << 32U) | system();
  return fmt::format("{}{:0{}x}{}", draft_start, number, draft_digits, draft_end);
}

bool is_draft_name(std::string_view name) {
  if (name.size() != draft_start.size() + draft_digits + draft_end.size()) return false;
  return name.starts_with(draft_start) && name.ends_with(draft_end) &&
         name.substr(draft_start.size(), draft_digits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

void remove_if_abandoned(const fs::path& draft) noexcept {
  const int file = ::open(draft.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat status{};
  const bool is_ours = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
  if (is_ours && ::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(draft.c_str());
  ::close(file);
}

}  // namespace

void remove_abandoned_drafts(const fs::path& folder) noexcept {
  try {
    std::error_code fault;
    for (fs::directory_iterator files(folder, fault), end; !fault && files != end; files.increment(fault)) {
      if (is_draft_name(files->path().filename().native())) remove_if_abandoned(files->path());
    }
  } catch (const std::exception&) {  // out of memory: they stay for another time
    return;
  }
}

WholeFile::WholeFile(std::string place, fs::path path, WholeFileOptions options)
    : place_(std::move(place)), path_(std::move(path)), options_(options) {
  if (options_.is_durable) remove_abandoned_drafts(folder_of(path_));
  constexpr int most = 100;  // a name that is taken is a chance of one in 2^64
  for (int attempt = 0; !open_draft(); ++attempt) {
    if (attempt == most) fail(EAGAIN);
  }
}

WholeFile::~WholeFile() { discard(); }

// False: the name was taken, or another process took the draft for an abandoned one before it was locked.
bool WholeFile::open_draft() {
  draft_ = folder_of(path_) / new_draft_name();
  file_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, options_.mode);
  if (file_ < 0 && errno == EEXIST) return false;
  if (file_ < 0) fail(errno);
  const bool is_taken = ::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;  // where there are no locks nobody removes it
  struct stat status{};
  if (!is_taken && ::fstat(file_, &status) == 0 && status.st_nlink > 0) return true;
  discard();
  return false;
}

void WholeFile::discard() noexcept {
  if (file_ < 0) return;
  ::unlink(draft_.c_str());
  ::close(file_);
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
  if (options_.is_durable && ::fsync(file_) != 0) fail(errno);
  if (::rename(draft_.c_str(), path_.c_str()) != 0) fail(errno);
  ::close(file_);
  file_ = -1;
}

}  // namespace anyshape
