// Machine code on disk: what is found, what is refused, and that it runs.
#include "codegen/disk_cache.h"
#include "codegen/jit.h"
#include "codegen/object_writers.h"
#include "codegen/run_both.h"
#include "codegen/target.h"
#include "loop/text.h"
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/error.h>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <fstream>

namespace anyshape::codegen {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

class KernelCache : public testing::Test {
 protected:
  KernelCache() { fs::permissions(folder_.path(), fs::perms::owner_all); }
  ~KernelCache() override { set_kernel_cache({.enabled = false}); }

  DiskCache cache(int64_t max_bytes = 1 << 20) const { return DiskCache({.folder = folder_.path(), .max_bytes = max_bytes}); }
  fs::path only_file() const { return fs::directory_iterator(folder_.path())->path(); }
  int64_t files() const { return std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()); }
  void overwrite(int64_t at, char byte) const {
    std::fstream file(only_file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put(byte);
  }

  TemporaryFolder folder_;
};

TEST_F(KernelCache, gives_what_was_stored_under_exactly_this_key) {
  DiskCache disk = cache();
  EXPECT_FALSE(disk.find("key"));
  disk.store("key", std::string("bytes\0more", 10));
  EXPECT_EQ(disk.find("key"), std::string("bytes\0more", 10));
  EXPECT_FALSE(disk.find("kez"));
  EXPECT_EQ(disk.stats().found, 1);
  EXPECT_EQ(disk.stats().written, 1);
  EXPECT_EQ(files(), 1);
}

TEST_F(KernelCache, ignores_what_is_not_whole) {
  DiskCache disk = cache();
  disk.store("key", "some bytes of code");
  const auto bytes = static_cast<int64_t>(fs::file_size(only_file()));
  for (int64_t at = 0; at < bytes; ++at) {
    std::ifstream original(only_file(), std::ios::binary);
    original.seekg(at);
    const char before = static_cast<char>(original.get());
    overwrite(at, static_cast<char>(before ^ 0x40));
    EXPECT_FALSE(disk.find("key")) << "byte " << at;
    overwrite(at, before);
  }
  EXPECT_TRUE(disk.find("key"));
  for (const int64_t size : {bytes - 1, int64_t{40}, int64_t{8}, int64_t{0}}) {
    fs::resize_file(only_file(), static_cast<uintmax_t>(size));
    EXPECT_FALSE(disk.find("key")) << size;
  }
}

TEST_F(KernelCache, compares_keys_and_not_only_their_hash) {
  DiskCache disk = cache();
  disk.store("one", "code of one");
  const fs::path file = only_file();
  disk.store("two", "code of two");
  for (const auto& each : fs::directory_iterator(folder_.path())) {
    if (each.path() != file) fs::copy_file(file, each.path(), fs::copy_options::overwrite_existing);
  }
  EXPECT_EQ(disk.find("one"), "code of one");
  EXPECT_FALSE(disk.find("two"));
}

TEST_F(KernelCache, follows_no_link) {
  DiskCache disk = cache();
  disk.store("key", "code");
  const fs::path elsewhere = folder_.path() / "elsewhere", file = only_file();
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_FALSE(disk.find("key"));
}

TEST_F(KernelCache, waits_for_nobody_where_a_pipe_has_a_kernels_name) {
  DiskCache disk = cache();
  disk.store("key", "code");
  const fs::path file = only_file();
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(disk.find("key"));
  disk.store("key", "code");
  EXPECT_EQ(disk.find("key"), "code");
}

TEST_F(KernelCache, neither_reads_nor_keeps_a_file_without_end) {
  DiskCache disk = cache();
  disk.store("key", "code");
  const fs::path file = only_file();
  std::ifstream original(file, std::ios::binary);
  std::string head(32, '\0');
  original.read(head.data(), 32);
  const uint64_t bytes = uint64_t{1} << 40U, object = bytes - 32 - 3;  // a head that says so, and a file of holes
  std::memcpy(head.data() + 16, &object, sizeof object);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary).write(head.data(), 32);
  fs::resize_file(file, bytes);
  EXPECT_FALSE(disk.find("key"));
  DiskCache another = cache();
  another.store("other", "code of another");  // looks at the folder's size
  EXPECT_FALSE(fs::exists(file));
  EXPECT_TRUE(another.find("other"));
}

TEST_F(KernelCache, drops_what_was_used_longest_ago) {
  DiskCache disk = cache(4000);
  const std::string code(600, 'x');
  const fs::file_time_type start = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (int i = 0; i < 50; ++i) {
    disk.store(std::to_string(i), code);
    for (const auto& each :
         fs::directory_iterator(folder_.path())) {  // some systems count no less than milliseconds: the new one gets a time
      if (each.last_write_time() > start + std::chrono::hours(1)) fs::last_write_time(each, start + std::chrono::seconds(i));
    }
  }
  EXPECT_LE(files(), 8);
  EXPECT_TRUE(disk.find("49"));
  EXPECT_FALSE(disk.find("0"));
}

TEST_F(KernelCache, leaves_files_that_are_not_its_own_alone) {
  const fs::path foreign = folder_.path() / "thesis.txt";
  std::ofstream(foreign) << std::string(5000, 'x');
  fs::last_write_time(foreign, fs::file_time_type::min());
  DiskCache disk = cache(1000);
  for (int i = 0; i < 10; ++i) disk.store(std::to_string(i), std::string(300, 'x'));
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_LE(files(), 5);
}

TEST_F(KernelCache, takes_a_folder_with_a_slash_at_its_end_and_still_follows_no_link) {
  set_kernel_cache({.folder = folder_.path() / "fresh" / ""});
  EXPECT_TRUE(fs::is_directory(folder_.path() / "fresh"));
  fs::create_directory_symlink(folder_.path() / "fresh", folder_.path() / "link");
  EXPECT_THROW(set_kernel_cache({.folder = folder_.path() / "link" / ""}), ArgumentError);
}

TEST_F(KernelCache, a_folder_that_others_can_open_is_refused) {
  fs::permissions(folder_.path(), fs::perms::owner_all | fs::perms::others_read);
  const std::string text = test::text_of<ArgumentError>([&] { set_kernel_cache({.folder = folder_.path()}); });
  EXPECT_NE(text.find("is open to others (mode 704); expected 700"), std::string::npos) << text;
  fs::permissions(folder_.path(), fs::perms::owner_all);
  const fs::path link = folder_.path() / "link";
  fs::create_directory_symlink("/tmp", link);
  EXPECT_NE(test::text_of<ArgumentError>([&] { set_kernel_cache({.folder = link}); }).find("is a link or no folder"), std::string::npos);
}

TEST_F(KernelCache, a_disk_that_cannot_be_written_costs_time_only) {
  DiskCache disk({.folder = folder_.path() / "is" / "not" / "there"});
  disk.store("key", "code");
  EXPECT_FALSE(disk.find("key"));
}

float run_once(const CompiledKernels& code) {
  float value = 20;
  void* const buffers[] = {&value};
  AsContext context = context_for_tests();
  EXPECT_EQ(code.entry(0)(&context, buffers, nullptr), 0);
  return value;
}

int32_t add_one(AsContext*, void* const* pointers, const int64_t*) {
  *static_cast<float*>(pointers[0]) += 1;
  return 0;
}

TEST_F(KernelCache, code_from_disk_runs_and_calls_routines) {
  set_kernel_cache({.folder = folder_.path()});
  const loop::Kernel kernel = loop::parse(R"(kernel twice() {
  inout x: f32
  x[0] = x[0] * 2.0
  call add_one(x[0])
}
)");
  const loop::Kernel* const kernels[] = {&kernel};
  const loop::ExternLookup externs = [](std::string_view name) -> loop::ExternFunction { return name == "add_one" ? add_one : nullptr; };
  EXPECT_EQ(run_once(*compile(kernels, externs, host_target())), 41);
  EXPECT_EQ(kernel_cache_stats().written, 1);
  set_kernel_cache({.folder = folder_.path()});  // as another process would
  EXPECT_EQ(run_once(*compile(kernels, externs, host_target())), 41);
  EXPECT_EQ(kernel_cache_stats().found, 1);
  EXPECT_EQ(kernel_cache_stats().written, 0);
}

// LLVM's passes are made once and run on one kernel after the other: nothing of an earlier one may be left in them.
TEST_F(KernelCache, an_object_is_the_same_whatever_was_generated_before_it) {
  const loop::Kernel kernel = loop::parse(R"(kernel sums(n) {
  out y: f32
  in x: f32
  parallel i in 0 .. n grain 1 {
    s = reduce sum k in 0 .. n {
      yield x[i * n + k] * 0.3f
    }
    y[i] = s
  }
}
)");
  const loop::Kernel other = loop::parse("kernel other() {\n  inout x: f32\n  x[0] = sqrt(x[0]) * 0.7f\n}\n");
  const auto object = [&](std::vector<const loop::Kernel*> kernels) {
    const TemporaryFolder empty;
    set_kernel_cache({.folder = empty.path()});
    for (const loop::Kernel* each : kernels) compile({&each, 1}, nullptr, host_target());
    std::string longest;
    for (const auto& file : fs::directory_iterator(empty.path())) {
      std::ifstream stream(file.path(), std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(stream), {}};
      if (bytes.size() > longest.size()) longest = std::move(bytes);
    }
    return longest;
  };
  object_writers().forget();
  const std::string first = object({&kernel});
  EXPECT_NE(first.find("kernel_part_0"), std::string::npos);
  EXPECT_EQ(object({&other, &kernel}), first);
  EXPECT_EQ(object({&other, &other, &kernel}), first);
}

TEST_F(KernelCache, code_that_is_held_is_shared) {
  const loop::Kernel kernel = loop::parse("kernel shared() {\n  inout x: f32\n  x[0] = x[0] * 3.0\n}\n");
  const loop::Kernel* const kernels[] = {&kernel};
  const auto first = compile(kernels, nullptr, host_target()), second = compile(kernels, nullptr, host_target());
  EXPECT_EQ(first->entry(0), second->entry(0));
}

}  // namespace
}  // namespace anyshape::codegen
