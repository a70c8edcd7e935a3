// Which anyshape this is: the one a program was compiled with, and the one it runs with. CMake reads the version here.
#pragma once
#include <string_view>

// For `#if`, and for text that is put together while compiling: the only macros of the library.
#define ANYSHAPE_VERSION "0.1.0"
#define ANYSHAPE_VERSION_NUMBER 100  // 10000 * major + 100 * minor + patch

#pragma GCC visibility push(default)
namespace anyshape {

/// Of these headers.
///@{
inline constexpr int version_major = ANYSHAPE_VERSION_NUMBER / 10000;
inline constexpr int version_minor = ANYSHAPE_VERSION_NUMBER / 100 % 100;
inline constexpr int version_patch = ANYSHAPE_VERSION_NUMBER % 100;
inline constexpr std::string_view version_text = ANYSHAPE_VERSION;
///@}

/// Of the library that runs: another one than `version_text` where a program was compiled with other headers.
std::string_view version();

}  // namespace anyshape
#pragma GCC visibility pop
