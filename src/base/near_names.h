// A name that is not known, answered with those that look like it.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace anyshape {

// `"adma" is no optimizer; expected one of "adam", "adamw", "adagrad".` The near names, or all where none is near.
std::string unknown_name(std::string_view what, std::string_view given, std::span<const std::string> known);

}  // namespace anyshape
