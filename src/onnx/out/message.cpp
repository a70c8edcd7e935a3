// Numbers as bytes of seven bits each, and messages inside of messages.
#include "onnx/out/message.h"

#include <cstring>
#include <utility>

namespace anyshape::onnx::out {

void Message::varint(uint64_t value) {
  char bytes[10];
  size_t count = 0;
  for (; value >= 0x80U; value >>= 7U) bytes[count++] = static_cast<char>(value | 0x80U);
  bytes[count++] = static_cast<char>(value);
  own({bytes, count});
}

void Message::add(uint32_t field, float value) {
  tag(field, 5);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  own({bytes, sizeof bytes});
}

void Message::add(uint32_t field, Message inner) {
  tag(field, 2);
  varint(inner.size_);
  for (Part& part : inner.parts_) {
    if (part.pointed.data() == nullptr) {
      own(part.own);
    } else {
      size_ += part.pointed.size();
      parts_.push_back(std::move(part));
    }
  }
}

void Message::add_packed(uint32_t field, const std::vector<int64_t>& values) {
  Message packed;
  for (const int64_t value : values) packed.varint(static_cast<uint64_t>(value));
  add(field, std::move(packed));
}

}  // namespace anyshape::onnx::out
