// What is made of sizes and numbers, and what is drawn, which has no form: the numbers would be others.
#include "onnx/out/rule.h"

namespace anyshape::onnx::out {
namespace {

void full(NodeCall& c) { c.out(c.add("Expand", {c.in(0), c.e.sizes(c.a.sizes("shape"))})); }

void arange(NodeCall& c) {
  const Dim &begin = c.a.size("begin"), &count = c.a.size("count");
  const std::string numbers = c.add("Range", {c.e.size_number(begin), c.e.size_number(begin + count), c.e.integer(1)});
  c.out_ours(0, c.a.dtype("dtype") == Dtype::i64 ? numbers : c.cast(numbers, c.a.dtype("dtype")));
}

void size(NodeCall& c) {
  const std::string number = c.e.size_number(c.a.size("dim"));
  c.out_ours(0, c.a.dtype("dtype") == Dtype::i64 ? number : c.cast(number, c.a.dtype("dtype")));
}

void constant(NodeCall& c) {
  const Dtype dtype = c.a.dtype("dtype");
  c.out_ours(0,
             is_floating(dtype) ? c.e.number(dtype, c.a.number("number")) : c.e.number(dtype, static_cast<double>(c.a.integer("integer"))));
}

constexpr std::string_view random = "it draws random numbers, and ONNX's would be others";
constexpr Rule rules[] = {
    {"full", full},
    {"arange", arange},
    {"size", size},
    {"constant", constant},
    {"random::normal", nullptr, random},
    {"random::uniform", nullptr, random},
    {"random::truncated_normal", nullptr, random},
    {"random::integers", nullptr, random},
    {"random::categorical", nullptr, random},
    {"seeded_uniform", nullptr, random},
};

}  // namespace

std::span<const Rule> source_rules() { return rules; }

}  // namespace anyshape::onnx::out
