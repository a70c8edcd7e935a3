// Elements as raw bytes, as fields of the message, or in a file of their own; their number is held to the shape before memory is asked for.
#include "onnx/tensor_data.h"

#include "base/cut_text.h"
#include "io/read_file.h"
#include "onnx/element_type.h"
#include "onnx/rule.h"
#include "onnx/wire.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace anyshape::onnx {
namespace {

class Elements {
 public:
  Elements(const TensorProto& proto, const std::string& file, const std::filesystem::path& folder)
      : proto_(proto),
        file_(file),
        folder_(folder),
        refuse_([this](std::string_view what) { fail(what, "elements as the format says"); }) {}

  Tensor read() {
    const std::optional<Dtype> dtype = dtype_for(proto_.type);
    if (!dtype) {
      throw Unsupported(fmt::format("onnx: {}: tensor {} has elements of {}, which is not supported.", whole_in_quotes(file_),
                                    in_quotes(proto_.name), name_of(proto_.type)));
    }
    dtype_ = *dtype;
    if (proto_.dims.size() > max_rank) fail(fmt::format("has {} axes", proto_.dims.size()), fmt::format("at most {}", max_rank));
    count_elements();
    if (proto_.is_external) return from_raw(external());
    std::optional<std::string_view> raw;
    WireReader in(proto_.bytes, refuse_);
    while (in.next()) {
      if (in.field() == 9) raw = in.bytes();
    }
    return raw ? from_raw(*raw) : from_fields();
  }

 private:
  [[noreturn]] void fail(std::string_view what, std::string_view expected) const {
    throw FormatError(fmt::format("onnx: {}: tensor {} {}; expected {}.", whole_in_quotes(file_), in_quotes(proto_.name), what, expected));
  }

  void count_elements() {
    count_ = 1;
    bool is_empty = false;
    for (const int64_t size : proto_.dims) {
      if (size < 0) fail(fmt::format("has a size of {}", size), "sizes from 0 on");
      is_empty = is_empty || size == 0;
      if (size > 0 && (__builtin_mul_overflow(count_, size, &count_) || count_ > (int64_t{1} << 56)))
        fail("has a shape that is too large", "as many elements as it has");
    }
    if (is_empty) count_ = 0;
  }

  // Several elements in a byte, the first in its lowest bits.
  bool is_packed() const { return bits() < 8; }
  // In the file, in bits.
  int64_t bits() const {
    switch (proto_.type) {
      case ElementType::Uint2:
      case ElementType::Int2: return 2;
      case ElementType::Uint4:
      case ElementType::Int4: return 4;
      case ElementType::Int8: return 8;
      case ElementType::Int16:
      case ElementType::Uint16: return 16;
      case ElementType::Uint32: return 32;
      default: return 8 * size_of(dtype_);
    }
  }

  template <class From, class To>
  void widen(std::string_view raw, To* to) const {
    for (int64_t i = 0; i < count_; ++i) {
      From value{};
      std::memcpy(&value, raw.data() + static_cast<size_t>(i) * sizeof(From), sizeof(From));
      to[i] = static_cast<To>(value);
    }
  }
  void widen_bytes(std::string_view raw, int32_t* to) const {  // int8: from 128 on they are negative
    for (int64_t i = 0; i < count_; ++i) to[i] = (static_cast<int32_t>(static_cast<uint8_t>(raw[static_cast<size_t>(i)])) ^ 128) - 128;
  }
  void put_part(int64_t i, unsigned byte, Tensor& result) const {
    const auto width = static_cast<unsigned>(bits()), range = 1U << width;
    const unsigned part = (byte >> (static_cast<unsigned>(i * width) % 8U)) & (range - 1);
    if (dtype_ == Dtype::u8) {
      host_data<uint8_t>(result)[i] = static_cast<uint8_t>(part);
    } else {
      host_data<int32_t>(result)[i] = static_cast<int32_t>(part) - (part < range / 2 ? 0 : static_cast<int32_t>(range));
    }
  }

  Tensor from_raw(std::string_view raw) const {
    const int64_t wanted = (count_ * bits() + 7) / 8;
    if (static_cast<int64_t>(raw.size()) != wanted)
      fail(fmt::format("has {} bytes of elements", raw.size()), fmt::format("{} for its shape", wanted));
    Tensor result = make_empty(dtype_, proto_.dims);
    if (count_ == 0) return result;
    if (is_packed()) {
      for (int64_t i = 0; i < count_; ++i) put_part(i, static_cast<uint8_t>(raw[static_cast<size_t>(i * bits() / 8)]), result);
      return result;
    }
    switch (proto_.type) {
      case ElementType::Int8: widen_bytes(raw, host_data<int32_t>(result)); break;
      case ElementType::Int16: widen<int16_t>(raw, host_data<int32_t>(result)); break;
      case ElementType::Uint16: widen<uint16_t>(raw, host_data<int32_t>(result)); break;
      case ElementType::Uint32: widen<uint32_t>(raw, host_data<int64_t>(result)); break;
      default: std::memcpy(host_data(result), raw.data(), raw.size());
    }
    if (dtype_ == Dtype::b8) normalise(result);
    return result;
  }

  void normalise(Tensor& truths) const {
    auto* const bytes = host_data<uint8_t>(truths);
    for (int64_t i = 0; i < count_; ++i) bytes[i] = bytes[i] != 0;
  }

  // How the fields of the message hold this type.
  uint32_t field() const {
    switch (proto_.type) {
      case ElementType::Float: return 4;
      case ElementType::Double: return 10;
      case ElementType::Int64: return 7;
      case ElementType::Uint32:
      case ElementType::Uint64: return 11;
      default: return 5;
    }
  }

  template <class Take>
  void each_number(const Take& take) const {
    WireReader in(proto_.bytes, refuse_);
    const uint32_t wanted = field();
    while (in.next()) {
      if (in.field() != wanted) continue;
      if (wanted == 4) {
        in.numbers([&](float number) { take(number, int64_t{0}); });
      } else if (wanted == 10) {
        in.doubles([&](double number) { take(number, int64_t{0}); });
      } else {
        in.integers([&](int64_t number) { take(0.0, number); });
      }
    }
  }

  Tensor from_fields() const {
    int64_t numbers = 0;
    each_number([&](double, int64_t) { ++numbers; });
    const int64_t wanted = is_packed() ? (count_ * bits() + 7) / 8 : count_;
    if (numbers != wanted) fail(fmt::format("has {} elements", numbers), fmt::format("{} for its shape", wanted));
    Tensor result = make_empty(dtype_, proto_.dims);
    int64_t i = 0;
    each_number([&](double number, int64_t integer) { put(i, number, integer, result); });
    return result;
  }

  void put(int64_t& i, double number, int64_t integer, Tensor& result) const {
    if (is_packed()) {
      for (int64_t end = std::min(count_, i + 8 / bits()); i < end; ++i) put_part(i, static_cast<unsigned>(integer & 255), result);
      return;
    }
    switch (dtype_) {
      case Dtype::f32: host_data<float>(result)[i++] = static_cast<float>(number); break;
      case Dtype::f64: host_data<double>(result)[i++] = number; break;
      case Dtype::f16:
      case Dtype::bf16: host_data<uint16_t>(result)[i++] = static_cast<uint16_t>(integer); break;
      case Dtype::i64: host_data<int64_t>(result)[i++] = integer; break;
      case Dtype::i32: host_data<int32_t>(result)[i++] = static_cast<int32_t>(integer); break;
      case Dtype::u8: host_data<uint8_t>(result)[i++] = static_cast<uint8_t>(integer); break;
      case Dtype::b8: host_data<uint8_t>(result)[i++] = integer != 0; break;
    }
  }

  int64_t external_number(const std::string& key, int64_t otherwise) const {
    const auto found = proto_.external.find(key);
    if (found == proto_.external.end()) return otherwise;
    int64_t number = 0;
    const std::string& text = found->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0)
      fail(fmt::format("has the {} {}", key, in_quotes(text)), "a whole number from 0 on");
    return number;
  }

  // A path that leads out of the model's folder would let a file read what its sender may not.
  std::filesystem::path location() const {
    const auto found = proto_.external.find("location");
    if (found == proto_.external.end() || found->second.empty()) fail("is in another file without a name", "the file's location");
    const std::filesystem::path named(found->second);
    bool is_inside = named.is_relative() && found->second.find('\0') == std::string::npos;
    for (const auto& part : named) is_inside = is_inside && part != "..";
    if (!is_inside) fail(fmt::format("is in the file {}", in_quotes(found->second)), "a file in the model's folder");
    std::error_code error;
    const std::filesystem::path base = std::filesystem::weakly_canonical(folder_.empty() ? std::filesystem::path(".") : folder_, error);
    const std::filesystem::path full = std::filesystem::weakly_canonical(base / named, error);
    const std::filesystem::path relative = full.lexically_relative(base);
    if (error || relative.empty() || *relative.begin() == "..")
      fail(fmt::format("is in the file {}", in_quotes(found->second)), "a file in the model's folder, also behind links");
    return full;
  }

  std::string_view external() {
    const std::filesystem::path path = location();
    ReadFile file(path);
    if (!file.problem().empty())
      fail(fmt::format("is in {}, which {}", whole_in_quotes(path.string()), file.problem()), "a file that can be read");
    const int64_t wanted = (count_ * bits() + 7) / 8, offset = external_number("offset", 0), length = external_number("length", wanted);
    if (length != wanted) fail(fmt::format("has {} bytes of elements", length), fmt::format("{} for its shape", wanted));
    if (offset > file.size() || length > file.size() - offset)
      fail(fmt::format("is in {} from byte {} on, {} bytes", whole_in_quotes(path.string()), offset, length),
           fmt::format("a part of the file's {}", file.size()));
    held_.resize(static_cast<size_t>(length));
    if (!file.skip(offset) || file.read(held_.data(), length) != length)
      fail(fmt::format("is in {}, which cannot be read", whole_in_quotes(path.string())), "a file that can be read");
    return held_;
  }

  const TensorProto& proto_;
  const std::string& file_;
  const std::filesystem::path& folder_;
  WireReader::Refuse refuse_;
  Dtype dtype_ = Dtype::f32;
  int64_t count_ = 0;
  std::string held_;
};

}  // namespace

Tensor to_tensor(const TensorProto& proto, const std::string& file, const std::filesystem::path& folder) {
  return Elements(proto, file, folder).read();
}

}  // namespace anyshape::onnx
