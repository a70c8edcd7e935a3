// Whatever fails here fails quietly: a dump is a look at a call, no part of it.
#include "base/dump.h"

#include "base/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <system_error>

namespace anyshape {
namespace {

// Names of functions are the user's: what could mean something in a path is left out of file names.
std::string file_name(std::string_view name) {
  constexpr size_t longest = 60;
  std::string text(name.substr(0, longest));
  std::ranges::replace_if(
      text,
      [](char c) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return !is_plain && c != '_' && c != '-';
      },
      '_');
  return text.empty() ? "graph" : text;
}

}  // namespace

Dump::Dump(std::string_view name) {
  const char* const given = std::getenv("ANYSHAPE_DUMP");
  if (given == nullptr || *given == '\0') return;
  static std::atomic<int> compiles = 0;
  folder_ = std::filesystem::path(given) / fmt::format("{:04}_{}", compiles++, file_name(name));
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) give_up(error.message());
}

void Dump::write(std::string_view stage, std::string_view text) noexcept {
  if (!is_on()) return;
  try {
    std::ofstream file(folder_ / fmt::format("{:02}_{}.txt", stage_++, file_name(stage)), std::ios::binary);
    file << text << std::flush;
    if (!file) give_up("a file cannot be written");
  } catch (const std::exception& error) {
    give_up(error.what());
  }
}

void Dump::give_up(std::string_view why) noexcept {
  try {
    log_warning(fmt::format("ANYSHAPE_DUMP: cannot write to {}: {}; the stages of this compile are not shown.", folder_.string(), why));
  } catch (const std::exception&) {
  }
  folder_.clear();
}

}  // namespace anyshape
