// Protobuf's wire format, read from left to right: fields of a message, with their numbers. What is written is hostile: every length is held to
// what is left, and unknown fields are skipped.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace anyshape::onnx {

// How a field is written.
enum class Wire : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// One message. Every accessor takes the value of the field that next() found; a field whose value is not taken is skipped.
class WireReader {
 public:
  // `refuse` is told what is wrong, "has ...", and throws.
  using Refuse = std::function<void(std::string_view what)>;
  WireReader(std::string_view bytes, const Refuse& refuse) : rest_(bytes), refuse_(&refuse) {}

  bool next();  // false at the end of the message
  uint32_t field() const { return field_; }
  Wire wire() const { return wire_; }

  uint64_t varint();
  int64_t integer() { return static_cast<int64_t>(varint()); }
  float number();
  std::string_view bytes();
  std::string text() { return std::string(bytes()); }
  WireReader message() { return {bytes(), *refuse_}; }

  // Numbers of a repeated field, packed or one by one: calls `take` for each of this field's occurrence.
  void integers(const std::function<void(int64_t)>& take);
  void numbers(const std::function<void(float)>& take);
  void doubles(const std::function<void(double)>& take);

  [[noreturn]] void fail(std::string_view what) const;

 private:
  uint64_t take_varint();
  std::string_view take(uint64_t bytes);
  void expect(Wire wire);
  void skip();

  std::string_view rest_;
  const Refuse* refuse_;
  uint32_t field_ = 0;
  Wire wire_ = Wire::Varint;
  bool is_taken_ = true;
};

}  // namespace anyshape::onnx
