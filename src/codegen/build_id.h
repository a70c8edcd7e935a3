// Which build of the library this is: code that another one has generated is not run.
#pragma once
#include <string>

namespace anyshape::codegen {

std::string build_id();  // the linker's, in hexadecimal; empty where there is none

}  // namespace anyshape::codegen
