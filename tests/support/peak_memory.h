// How much more memory a process takes at most while something runs, as the system counts it.
#pragma once
#include "support/sanitized.h"

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace anyshape::test {

inline std::optional<int64_t> status_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return std::nullopt;
}

// None where the system does not let a process measure itself, and under a sanitizer.
template <class Body>
std::optional<int64_t> peak_growth(const Body& body) {
  const bool is_reset = static_cast<bool>(std::ofstream("/proc/self/clear_refs") << "5" << std::flush);
  const std::optional<int64_t> before = status_bytes("VmRSS");
  body();
  const std::optional<int64_t> peak = status_bytes("VmHWM");
  return !is_sanitized && is_reset && before && peak ? std::optional(*peak - *before) : std::nullopt;
}

}  // namespace anyshape::test
