// What options may be, told when an object is made: "huber: delta is -1; expected a positive number." Each gives the value back.
#pragma once
#include <anyshape/error.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace anyshape::require {

double finite(std::string_view owner, std::string_view name, double value);
double positive(std::string_view owner, std::string_view name, double value);         // and finite
double not_negative(std::string_view owner, std::string_view name, double value);     // and finite
double share(std::string_view owner, std::string_view name, double value);            // 0 <= value <= 1
double share_below_one(std::string_view owner, std::string_view name, double value);  // 0 <= value < 1
int64_t at_least(std::string_view owner, std::string_view name, int64_t value, int64_t least);

// A std::function with something in it: an empty one would be found out where it is called, without a name.
template <class Function>
Function callable(std::string_view owner, std::string_view name, Function function) {
  if (function == nullptr) {
    throw ArgumentError(std::string(owner) + ": " + std::string(name) + " is an empty std::function; expected a callable.");
  }
  return function;
}

}  // namespace anyshape::require
