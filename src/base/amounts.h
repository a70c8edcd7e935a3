// Amounts for people: a few digits and a unit.
#pragma once
#include <cstdint>
#include <string>

namespace anyshape {

std::string bytes_text(int64_t bytes);  // "812 B", "12.5 KiB", "1.2 GiB"
std::string flops_text(int64_t flops);  // "812 FLOP", "25.7 MFLOP"

}  // namespace anyshape
