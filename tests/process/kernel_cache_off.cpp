// ANYSHAPE_KERNEL_CACHE may say off in any case, or 0, no, false: then there is no cache, and no folder of that name. On and its like: the default.
#include <anyshape/anyshape.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace as = anyshape;
namespace fs = std::filesystem;

int main() {
  const fs::path folder = fs::temp_directory_path() / ("anyshape_kernel_cache_" + std::to_string(getpid()));
  fs::create_directory(folder);
  fs::current_path(folder);
  setenv("XDG_CACHE_HOME", (folder / "caches").c_str(), 1);
  int failures = 0;
  for (const char* text : {"off", "OFF", "0", "No", "false", "on", "1", ""}) {
    const bool is_on = std::string(text) == "on" || std::string(text) == "1" || std::string(text).empty();
    const pid_t child = fork();  // what a process has chosen stays
    if (child == 0) {
      setenv("ANYSHAPE_KERNEL_CACHE", text, 1);
      as::sum(as::ones({3}));
      const as::KernelCacheStats stats = as::kernel_cache_stats();
      _exit((stats.found + stats.written > 0) == is_on ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool made_folder = *text != '\0' && fs::exists(folder / text);
    if (status == 0 && !made_folder) continue;
    std::fprintf(stderr, "\"%s\": status %d, folder made: %d\n", text, status, made_folder);
    ++failures;
  }
  fs::remove_all(folder);
  return failures == 0 ? 0 : 1;
}
