// How much memory a process has, and whether something leaks.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace anyshape::test {

// As the pages are now, where the system tells; else by its running count, which is late by some pages for every core.
inline int64_t resident_bytes() {
  std::ifstream exact("/proc/self/smaps_rollup");
  for (std::string line; std::getline(exact, line);) {
    if (line.starts_with("Rss:")) return std::stoll(line.substr(4)) * 1024;
  }
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// The least growth of a few rounds, up to the first that is within `most`: what leaks grows in each, and a large page that the system makes does not.
template <class Body>
int64_t resident_growth(int64_t most, const Body& round) {
  int64_t least = INT64_MAX;
  for (int attempt = 0; attempt == 0 || (attempt < 4 && least > most); ++attempt) {
    const int64_t before = resident_bytes();
    round();
    const int64_t growth = resident_bytes() - before;
    least = growth < least ? growth : least;
  }
  return least;
}

}  // namespace anyshape::test
