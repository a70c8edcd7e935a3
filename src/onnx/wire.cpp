// The reader of the wire format: a varint has ten bytes at most, groups are not read, and nothing is read behind the end.
#include "onnx/wire.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <cstring>

namespace anyshape::onnx {

void WireReader::fail(std::string_view what) const {
  (*refuse_)(what);
  throw InternalError("onnx: what refuses a file returned.");
}

uint64_t WireReader::take_varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < 10; ++i) {
    if (i >= rest_.size()) fail("ends inside a number");
    const auto byte = static_cast<uint8_t>(rest_[i]);
    if (i == 9 && byte > 1) fail("has a number of more than 64 bits");
    value |= uint64_t{byte & 0x7FU} << (7 * i);
    if ((byte & 0x80U) == 0) {
      rest_.remove_prefix(i + 1);
      return value;
    }
  }
  fail("has a number of more than ten bytes");
}

std::string_view WireReader::take(uint64_t bytes) {
  if (bytes > rest_.size()) fail(fmt::format("ends inside field {}", field_));
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

void WireReader::skip() {
  is_taken_ = true;
  switch (wire_) {
    case Wire::Varint: take_varint(); return;
    case Wire::Fixed64: take(8); return;
    case Wire::Fixed32: take(4); return;
    case Wire::Bytes: take(take_varint()); return;
  }
}

bool WireReader::next() {
  if (!is_taken_) skip();
  if (rest_.empty()) return false;
  const uint64_t tag = take_varint();
  const uint64_t wire = tag & 7U;
  if (tag >> 3U == 0 || tag >> 32U != 0) fail("has a field with a number that no field has");
  if (wire != 0 && wire != 1 && wire != 2 && wire != 5) fail(fmt::format("has a field of the unknown kind {}", wire));
  field_ = static_cast<uint32_t>(tag >> 3U);
  wire_ = static_cast<Wire>(wire);
  is_taken_ = false;
  return true;
}

void WireReader::expect(Wire wire) {
  if (wire_ != wire) fail(fmt::format("has field {} of another kind than the format gives it", field_));
  is_taken_ = true;
}

uint64_t WireReader::varint() {
  expect(Wire::Varint);
  return take_varint();
}

static float float_at(std::string_view bytes) {
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
static double double_at(std::string_view bytes) {
  double value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

float WireReader::number() {
  expect(Wire::Fixed32);
  return float_at(take(4));
}

std::string_view WireReader::bytes() {
  expect(Wire::Bytes);
  return take(take_varint());
}

void WireReader::integers(const std::function<void(int64_t)>& take_one) {
  if (wire_ == Wire::Varint) return take_one(integer());
  WireReader packed(bytes(), *refuse_);
  while (!packed.rest_.empty()) take_one(static_cast<int64_t>(packed.take_varint()));
}

void WireReader::numbers(const std::function<void(float)>& take_one) {
  if (wire_ == Wire::Fixed32) return take_one(number());
  const std::string_view all = bytes();
  if (all.size() % 4 != 0) fail(fmt::format("has {} bytes of floats in field {}", all.size(), field_));
  for (size_t i = 0; i < all.size(); i += 4) take_one(float_at(all.substr(i)));
}

void WireReader::doubles(const std::function<void(double)>& take_one) {
  if (wire_ == Wire::Fixed64) {
    is_taken_ = true;
    return take_one(double_at(take(8)));
  }
  const std::string_view all = bytes();
  if (all.size() % 8 != 0) fail(fmt::format("has {} bytes of doubles in field {}", all.size(), field_));
  for (size_t i = 0; i < all.size(); i += 8) take_one(double_at(all.substr(i)));
}

}  // namespace anyshape::onnx
