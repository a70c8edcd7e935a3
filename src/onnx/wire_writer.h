// Protobuf's wire format, written: fields one after the other, messages inside messages as bytes.
#pragma once
#include "onnx/wire.h"

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace anyshape::onnx {

class WireWriter {
 public:
  void integer(uint32_t field, int64_t value) {
    tag(field, Wire::Varint);
    varint(static_cast<uint64_t>(value));
  }
  void number(uint32_t field, float value) {
    tag(field, Wire::Fixed32);
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
  }
  void text(uint32_t field, std::string_view value) {
    tag(field, Wire::Bytes);
    varint(value.size());
    bytes_ += value;
  }
  void message(uint32_t field, const WireWriter& inner) { text(field, inner.bytes_); }
  void integers(uint32_t field, std::span<const int64_t> values) {  // packed
    WireWriter packed;
    for (const int64_t value : values) packed.varint(static_cast<uint64_t>(value));
    text(field, packed.bytes_);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void tag(uint32_t field, Wire wire) { varint(uint64_t{field} << 3U | static_cast<uint64_t>(wire)); }
  void varint(uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) bytes_ += static_cast<char>(value | 0x80U);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace anyshape::onnx
