// A condition on sizes that a trace could not prove: evaluated when the sizes are known.
#pragma once
#include <anyshape/dim.h>

#include <string>

namespace anyshape {

class Bindings;

enum class Relation : uint8_t {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Broadcastable,  // a == b or a == 1 or b == 1
};

bool holds(Relation relation, int64_t a, int64_t b);

struct SizeCheck {
  Relation relation = Relation::Equal;
  Dim a;
  Dim b;

  bool holds(const Bindings& values) const;
  bool same_as(const SizeCheck& other) const;
};

std::string to_string(Relation relation);       // "==", "broadcasts with"
std::string to_string(const SizeCheck& check);  // "rows == cols + 1"

}  // namespace anyshape
