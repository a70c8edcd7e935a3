// Runs something that must throw: exactly this class, with exactly this text.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <typeinfo>

namespace anyshape {

template <class Error, class Body>
void expect_error(const Body& body, const std::string& text) {
  try {
    body();
  } catch (const std::exception& error) {
    EXPECT_TRUE(typeid(error) == typeid(Error)) << "thrown: " << typeid(error).name();
    EXPECT_EQ(error.what(), text);
    return;
  }
  ADD_FAILURE() << "nothing was thrown; expected: " << text;
}

}  // namespace anyshape
