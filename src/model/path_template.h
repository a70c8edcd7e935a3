// Paths with fields that an epoch fills in: "ck-{epoch:02d}-{val_loss:.2f}.safetensors".
#pragma once
#include <anyshape/history.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace anyshape::model {

class PathTemplate {
 public:
  // `callback` opens error texts. ArgumentError for braces that are no field, and for a format that does not fit a number.
  PathTemplate(std::string callback, const std::string& text);

  void require_known(
      const std::vector<std::string>& recorded) const;               // ArgumentError, with the names there are, for a field of another name
  std::string filled_in(int64_t epoch, const Scores& scores) const;  // the epoch counted from 1
  std::filesystem::path up_to_first_field() const;                   // its folder is that of all paths, or holds their folders

 private:
  struct Part {
    std::string text;    // as it is, or
    std::string field;   // the name of what is filled in
    std::string format;  // as in "{:.2f}"; empty: the default
  };
  std::string formatted(const Part& part, double value) const;

  std::string callback_;
  std::string given_;
  std::vector<Part> parts_;
};

}  // namespace anyshape::model
