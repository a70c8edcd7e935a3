// Operands in the texts of errors, however many there are.
#pragma once
#include <functional>
#include <string>

namespace anyshape {

inline constexpr size_t few_operands = 16;
// "a is f32[2], b is f32[3]"; of more than a few operands the first ones and how many more there are.
std::string described_operands(size_t count, const std::function<std::string(size_t index)>& describe_one);

}  // namespace anyshape
