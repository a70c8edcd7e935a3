// The version: one number everywhere.
#include <anyshape/version.h>

#include <gtest/gtest.h>

#include <string>

#if ANYSHAPE_VERSION_NUMBER < 100
#error "the preprocessor compares versions"
#endif

namespace anyshape {
namespace {

TEST(Version, of_headers_and_library_is_that_of_the_project) {
  EXPECT_EQ(version(), ANYSHAPE_PROJECT_VERSION);
  EXPECT_EQ(version_text, ANYSHAPE_PROJECT_VERSION);
}

TEST(Version, number_says_what_the_text_says) {
  EXPECT_EQ(std::to_string(version_major) + "." + std::to_string(version_minor) + "." + std::to_string(version_patch), ANYSHAPE_VERSION);
}

}  // namespace
}  // namespace anyshape
