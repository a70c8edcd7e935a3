// How a file with a function is laid out. Its tensors are variables, under their names, and what the traces hold; its metadata say the rest:
//   format, format_version, anyshape_version
//   function   JSON: name, signature, variables, number of traces
//   trace.0    JSON: structure of arguments and results, variables, what failing checks say
//   graph.0    the graph's text (graph/text.h)
#pragma once
#include <anyshape/config.h>
#include <anyshape/shape.h>

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace anyshape::saved {

inline constexpr std::string_view format_name = "anyshape function";
inline constexpr int64_t format_version = 1;
inline constexpr size_t longest_json = size_t{1} << 19;  // of one text: a value takes far more memory than its text
inline constexpr int64_t most_traces = 4096;

inline std::string key_of_trace(std::string_view part, size_t number) { return fmt::format("{}.{}", part, number); }

// Axes are texts: sizes, "ragged time" for rows of unequal length, "?" where a signature takes any size.
inline constexpr std::string_view ragged_prefix = "ragged ";
inline constexpr std::string_view any_size = "?";

}  // namespace anyshape::saved
