// The text form of a kernel: printed for people, parsed for tests and hand-written programs. parse(print(k)) prints the same text.
#pragma once
#include "loop/ir.h"

#include <string>
#include <string_view>

namespace anyshape::loop {

std::string print(const Kernel& kernel);
Kernel parse(std::string_view text);  // FormatError with line and what was expected

}  // namespace anyshape::loop
