// Library routines that a loop program may Call, by name. The interpreter and generated code call the same functions.
#pragma once
#include <cstdint>
#include <string_view>

struct AsContext;

namespace anyshape::loop {

using ExternFunction = int32_t (*)(AsContext*, void* const* pointers, const int64_t* integers);

// Finds a routine; nullptr where there is none. Given to the interpreter and to the code generator by their callers.
using ExternLookup = ExternFunction (*)(std::string_view name);

}  // namespace anyshape::loop
