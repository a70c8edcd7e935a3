// The library routines that loop programs call, one line each: their names, and what who reads a call may know of it. Who writes a call and who serves
// it spell the names here. What each takes is in runtime/cpu/externs.h.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace anyshape::loop {

struct Routine {
  std::string_view name;
  bool can_fail = true;  // it may find something in its data that ends the run
  // The integers first, first + 1 and first + 2 are sizes, and it does so many floating-point operations for each index of all three.
  struct {
    int per_index = 0;
    size_t first = 0;
  } flops = {};
  bool holds_splits = false;  // after it, its buffer holds row splits: the first two integers are their rows and their total
};

namespace routine {

inline constexpr Routine product_f32{.name = "product_f32", .flops = {.per_index = 2, .first = 2}};
inline constexpr Routine check_indices_i32{.name = "check_indices_i32"};
inline constexpr Routine check_indices_i64{.name = "check_indices_i64"};
inline constexpr Routine check_splits{.name = "check_splits", .holds_splits = true};
inline constexpr Routine check_same_splits{.name = "check_same_splits"};
inline constexpr Routine check_row_lengths{.name = "check_row_lengths"};
inline constexpr Routine join_parts{.name = "join_parts", .can_fail = false};

inline constexpr std::array all{&product_f32,       &check_indices_i32, &check_indices_i64, &check_splits,
                                &check_same_splits, &check_row_lengths, &join_parts};

}  // namespace routine

// The one of that name; null where there is none.
inline const Routine* find_routine(std::string_view name) {
  const auto found = std::ranges::find(routine::all, name, [](const Routine* each) { return each->name; });
  return found == routine::all.end() ? nullptr : *found;
}

}  // namespace anyshape::loop
