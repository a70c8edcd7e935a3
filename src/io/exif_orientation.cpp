// EXIF: a TIFF header and a directory of tagged values behind "Exif\0\0", in either order of bytes. Whatever is not as it should be says nothing.
#include "io/image_codec.h"

#include <optional>

namespace anyshape::io {
namespace {

class Tiff {
 public:
  explicit Tiff(std::string_view bytes) : bytes_(bytes), is_little_(bytes.starts_with("II")) {}

  std::optional<uint32_t> number(size_t offset, size_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return std::nullopt;
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) {
      const size_t at = is_little_ ? offset + size - 1 - i : offset + i;
      value = value << 8U | static_cast<unsigned char>(bytes_[at]);
    }
    return value;
  }

 private:
  std::string_view bytes_;
  bool is_little_;
};

}  // namespace

int exif_orientation(std::string_view segment) {
  constexpr std::string_view start("Exif\0\0", 6);
  constexpr uint32_t magic = 42, orientation_tag = 0x0112;
  constexpr size_t entry_bytes = 12;
  if (!segment.starts_with(start)) return 1;
  segment.remove_prefix(start.size());
  if (!segment.starts_with("II") && !segment.starts_with("MM")) return 1;
  const Tiff tiff(segment);
  const std::optional<uint32_t> directory = tiff.number(4, 4);
  if (tiff.number(2, 2) != magic || !directory) return 1;
  const uint32_t entries = tiff.number(*directory, 2).value_or(0);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = *directory + 2 + i * entry_bytes;
    const std::optional<uint32_t> tag = tiff.number(entry, 2);
    if (!tag) return 1;
    if (*tag != orientation_tag) continue;
    const uint32_t value = tiff.number(entry + 8, 2).value_or(1);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace anyshape::io
