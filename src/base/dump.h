// The stages of a compile as files, for people: ANYSHAPE_DUMP=folder. Each compile has a folder of its own in there, named by its number in
// the process and by what is compiled; each stage is a file in it, numbered in order.
#pragma once
#include <filesystem>
#include <string_view>

namespace anyshape {

class Dump {
 public:
  explicit Dump(std::string_view name);  // of what is compiled; makes the folder

  bool is_on() const { return !folder_.empty(); }  // ask before making a text
  // A folder or file that cannot be written is a warning in the log, once, and ends the dump.
  void write(std::string_view stage, std::string_view text) noexcept;

 private:
  void give_up(std::string_view why) noexcept;
  std::filesystem::path folder_;
  int stage_ = 0;
};

}  // namespace anyshape
