// The text form of a kernel: printed for people, parsed for tests and hand-written programs. parse(print(k)) prints the same text for every
// kernel that a Builder made; the parser builds with a Builder, so what it reads is folded, shared and hoisted as well.
//
//   kernel softmax_rows(rows, cols) {              # the dims
//     in x: f32                                    # buffers: in, out, inout
//     in splits: i64
//     out y: f32
//     parallel r in 0 .. rows grain 1 {
//       m = reduce max i in splits[r] .. splits[r + 1] { yield x[i] }
//       s = reduce sum i in splits[r] .. splits[r + 1] { yield exp(x[i] - m) }
//       vector i in splits[r] .. splits[r + 1] { y[i] = exp(x[i] - m) / s }
//     }
//   }
//
//   kernel    = "kernel" name "(" [name {"," name}] ")" "{" {buffer} {statement} "}"
//   buffer    = ("in" | "out" | "inout") name ":" dtype
//   statement = name "=" expression | name "[" expression "]" "=" expression
//             | ("elements" | "vector" | "for") name "in" ["reverse"] range block        reverse: "for" only
//             | "each" name "in" range "work" expression block
//             | "ranges" name "," name ".." name "of" expression "," expression walk "work" expression block
//                        the row, begin and end of a range; how many rows, their length; walk = once lines sums scattered
//             | "runs" name ".." name "in" range "work" expression block
//             | "parallel" name "in" range "grain" expression block
//             | names "=" "for" name "in" ["reverse"] range "carry" "(" name "=" expression {"," ...} ")" block   ends with "next" expressions
//             | names "=" "reduce" combine {"," combine} name "in" range block           ends with "yield" expressions
//             | "if" expression block ["else" (block | if statement)]
//             | "call" name "(" [name "[" expression "]" {"," ...}] [";" expression {"," ...}] ")"
//   range     = expression ".." expression                                               block = "{" {statement} "}"
//   combine   = sum product max min all any
//   operators, loosest first: == != < <= > >=   |   ^   &   << >> >>>   + -   * / // %   and before an operand - ! ~
//   functions: min max fma select abs sqrt floor ceil trunc round exp log tanh sigmoid, casts as f32(v), bits as bitcast_i32(v)
//
// `>>>` is the logical shift; `//` and `%` are FloorDivide and Modulo. A name is bound once. A plain number takes the type of the operand
// beside it, or of the buffer it is stored in; alone it is i64, with a point or exponent f32. 1.5f is f32, f64(1.5) f64, 0xff an integer;
// inf, nan, true, false. Floats print with the fewest digits that read back as the same bits. Statements need no separator, `;` is allowed.
// Names that are no identifiers are written in double quotes.
#pragma once
#include "loop/ir.h"

#include <string>
#include <string_view>

namespace anyshape::loop {

std::string print(const Kernel& kernel);
Kernel parse(std::string_view text);  // FormatError with line and what was expected

}  // namespace anyshape::loop
