// The text of an exception of one class, or a remark where none was thrown.
#pragma once
#include <string>

namespace anyshape::test {

template <class E, class Body>
std::string text_of(const Body& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace anyshape::test
