// What is printed if the process dies while it lives: the input at hand, so that a crash can be had again.
#pragma once
#include <string>

namespace anyshape::check {

class CrashNote {
 public:
  explicit CrashNote(std::string text);
  ~CrashNote();
  CrashNote(const CrashNote&) = delete;
  CrashNote& operator=(const CrashNote&) = delete;

 private:
  std::string text_;
};

}  // namespace anyshape::check
