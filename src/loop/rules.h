// The type rules of the pure instructions, shared by the builder (which refuses at once) and the verifier (which checks whole kernels).
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "loop/ir.h"

namespace anyshape::loop {

std::string_view name_of(Op op);            // "Add"
std::string_view name_of(Combine combine);  // "sum"
std::string_view name_of(LoopKind kind);    // "Parallel"
std::string_view name_of(Walk walk);        // "once"

constexpr bool is_pure(Op op) { return op >= Op::Add && op <= Op::Bitcast; }

// Says what is wrong with a pure instruction of these types; empty where nothing is.
std::string broken_rule(Op op, Dtype result, std::span<const Dtype> args);

// Says what is wrong with combining values of `type`; empty where nothing is.
std::string broken_rule(Combine combine, Dtype type);

}  // namespace anyshape::loop
