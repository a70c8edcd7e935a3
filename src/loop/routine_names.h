// Names of the library routines that loop programs call: who writes a call, who looks for one and who serves it spell them here. What each
// takes is in runtime/cpu/externs.h.
#pragma once
#include <string_view>

namespace anyshape::loop::routine {

inline constexpr const char* product_f32 = "product_f32";
inline constexpr const char* check_indices_i32 = "check_indices_i32";
inline constexpr const char* check_indices_i64 = "check_indices_i64";
inline constexpr const char* check_splits = "check_splits";
inline constexpr const char* check_same_splits = "check_same_splits";
inline constexpr const char* check_row_lengths = "check_row_lengths";
inline constexpr const char* join_parts = "join_parts";

// Others may find something in their data that ends the run.
constexpr bool cannot_fail(std::string_view name) { return name == join_parts; }
constexpr bool is_product(std::string_view name) { return name == product_f32; }

}  // namespace anyshape::loop::routine
