// A message of protobuf's wire format while it is written. What others hold, as the elements of weights, is pointed to and never copied, so that a file is
// in memory once.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace anyshape::onnx::out {

class Message {
 public:
  void add(uint32_t field, int64_t value) {
    tag(field, 0);
    varint(static_cast<uint64_t>(value));
  }
  void add(uint32_t field, float value);
  void add(uint32_t field, std::string_view text) {
    tag(field, 2);
    varint(text.size());
    own(text);
  }
  void add(uint32_t field, Message inner);
  void add_packed(uint32_t field, const std::vector<int64_t>& values);
  void point_to(uint32_t field, std::string_view bytes) {  // bytes that outlive the message
    tag(field, 2);
    varint(bytes.size());
    parts_.push_back({.pointed = bytes});
    size_ += bytes.size();
  }

  uint64_t size() const { return size_; }
  template <class Write>
  void write(const Write& write_bytes) const {
    for (const Part& part : parts_) write_bytes(part.pointed.data() == nullptr ? std::string_view(part.own) : part.pointed);
  }

 private:
  struct Part {
    std::string own = {};
    std::string_view pointed = {};
  };
  void own(std::string_view bytes) {
    if (parts_.empty() || parts_.back().pointed.data() != nullptr) parts_.emplace_back();
    parts_.back().own += bytes;
    size_ += bytes.size();
  }
  void tag(uint32_t field, uint32_t wire) { varint(uint64_t{field} << 3U | wire); }
  void varint(uint64_t value);

  std::deque<Part> parts_;
  uint64_t size_ = 0;
};

}  // namespace anyshape::onnx::out
