// One file per object: a line that says what it is, the lengths, a checksum, the key, the bytes.
#include "codegen/disk_cache.h"

#include "io/whole_file.h"

#include <anyshape/error.h>

#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/Support/xxhash.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

namespace anyshape::codegen {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t magic = 0x316b'6570'6168'7379;  // "yshapek1"

struct Head {
  uint64_t magic = 0;
  uint64_t key_bytes = 0;
  uint64_t object_bytes = 0;
  uint64_t checksum = 0;  // of key and bytes
};

uint64_t checksum(const std::string& text) { return llvm::xxh3_64bits(llvm::StringRef(text)); }

constexpr std::string_view ending = ".kernel";

// A kernel's object is thousands of bytes; a file of more than this, which may have no blocks on the disk at all, is none of ours.
constexpr int64_t most_file_bytes = int64_t{64} << 20;

// A kernel's file, <32 digits>.kernel, whatever follows.
bool is_ours(const fs::directory_entry& file) {
  const std::string name = file.path().filename().string();
  constexpr size_t digits = 32;
  const bool is_named = name.size() >= digits + ending.size() && name.compare(digits, ending.size(), ending) == 0 &&
                        name.find_first_not_of("0123456789abcdef") == digits;
  std::error_code fault;
  return is_named && file.symlink_status(fault).type() == fs::file_type::regular;
}

fs::path file_of(const fs::path& folder, const std::string& key) {
  const llvm::XXH128_hash_t hash = llvm::xxh3_128bits({reinterpret_cast<const uint8_t*>(key.data()), key.size()});
  return folder / fmt::format("{:016x}{:016x}{}", hash.high64, hash.low64, ending);
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  // Bytes of a regular file of this user's; -1 for another one.
  int64_t size() const {
    struct stat status{};
    const bool is_ours = ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == ::geteuid();
    return is_ours ? static_cast<int64_t>(status.st_size) : -1;
  }
  bool read(void* to, size_t bytes) const {
    for (auto* at = static_cast<char*>(to); bytes > 0;) {
      const ssize_t count = ::read(descriptor_, at, bytes);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      at += count;
      bytes -= static_cast<size_t>(count);
    }
    return true;
  }
  void touch() const { ::futimens(descriptor_, nullptr); }

 private:
  int descriptor_;
};

// What the file says, if it is whole and says it of this key.
std::optional<std::string> read_object(const File& file, const std::string& key) {
  Head head;
  const auto rest = static_cast<uint64_t>(file.size()) - sizeof head;
  if (!file.read(&head, sizeof head) || head.magic != magic || head.key_bytes != key.size() || head.key_bytes > rest) return {};
  if (head.object_bytes != rest - head.key_bytes) return {};
  std::string text(rest, '\0');
  if (!file.read(text.data(), text.size()) || checksum(text) != head.checksum || !text.starts_with(key)) return {};
  return text.substr(key.size());
}

}  // namespace

PrivateFolder private_folder(const fs::path& given) {
  std::error_code ignored;
  fs::path path = fs::absolute(given, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // a slash at the end would follow a link
  PrivateFolder folder{.path = path, .fault = {}};
  fs::create_directories(path.parent_path(), ignored);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    folder.fault = fmt::format("cannot be made: {}", std::strerror(errno));
    return folder;
  }
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    folder.fault = std::strerror(errno);
  } else if (!S_ISDIR(status.st_mode)) {
    folder.fault = "is a link or no folder";
  } else if (status.st_uid != ::geteuid()) {
    folder.fault = "is another user's";
  } else if ((status.st_mode & 077) != 0) {
    folder.fault = fmt::format("is open to others (mode {:o}); expected 700", status.st_mode & 0777);
  }
  return folder;
}

std::optional<std::string> DiskCache::find(const std::string& key) {
  // Whatever is there instead of a file, opening it does not wait for anybody.
  const File file(::open(file_of(options_.folder, key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open() || file.size() < static_cast<int64_t>(sizeof(Head)) || file.size() > most_file_bytes) return {};
  std::optional<std::string> object = read_object(file, key);
  if (!object) return {};
  file.touch();
  const std::lock_guard lock(mutex_);
  ++stats_.found;
  return object;
}

void DiskCache::store(const std::string& key, const std::string& bytes) {
  const std::string text = key + bytes;
  if (text.size() + sizeof(Head) > static_cast<size_t>(most_file_bytes)) return;
  const Head head{magic, key.size(), bytes.size(), checksum(text)};
  try {
    WholeFile file("kernel cache", file_of(options_.folder, key), {.mode = 0600, .is_durable = false});
    file.write({reinterpret_cast<const char*>(&head), sizeof head});
    file.write(text);
    file.commit();
  } catch (const std::exception&) {  // a cache that cannot be written is none
    return;
  }
  const std::lock_guard lock(mutex_);
  ++stats_.written;
  since_check_ += static_cast<int64_t>(text.size());
  if (since_check_ > options_.max_bytes / 8 || stats_.written == 1) {
    since_check_ = 0;
    make_room();
  }
}

void DiskCache::make_room() const {
  remove_abandoned_drafts(options_.folder);
  struct Entry {
    fs::file_time_type used;
    int64_t bytes;
    fs::path path;
  };
  std::error_code fault;
  std::vector<Entry> entries;
  int64_t total = 0;
  for (fs::directory_iterator files(options_.folder, fault), end; !fault && files != end; files.increment(fault)) {
    if (!is_ours(*files)) continue;
    const auto bytes = static_cast<int64_t>(files->file_size(fault));
    if (fault) continue;
    if (bytes > most_file_bytes) {
      fs::remove(files->path(), fault);
      fault.clear();
      continue;
    }
    entries.push_back({files->last_write_time(fault), bytes, files->path()});
    total += bytes;
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= options_.max_bytes) return;
    if (fs::remove(entry.path, fault)) total -= entry.bytes;
  }
}

KernelCacheStats DiskCache::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace anyshape::codegen
