// What reaches the log sink while one lives, instead of standard error.
#pragma once
#include <anyshape/log.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::test {

class Warnings {
 public:
  Warnings() {
    set_log_sink([this](std::string_view text) {
      const std::scoped_lock lock(mutex_);
      texts_.emplace_back(text);
    });
  }
  ~Warnings() { set_log_sink({}); }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

}  // namespace anyshape::test
