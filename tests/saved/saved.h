// A function written to a file and read again, in tests.
#pragma once
#include "support/temporary_folder.h"

#include <anyshape/anyshape.h>

#include <string>

namespace anyshape::test {

class SavedFile {
 public:
  std::string path() const { return (folder_.path() / "function.safetensors").string(); }

 private:
  TemporaryFolder folder_;
};

template <class AnyFunction>
LoadedFunction saved_and_loaded(const AnyFunction& function) {
  const SavedFile file;
  save(function, file.path());
  return load_function(file.path());
}

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace anyshape::test
