// .npy files: magic bytes, version, header, then the elements. Nothing is allocated before the file is known to hold what its header says.
#include "io/npy_header.h"
#include "io/read_file.h"
#include "io/whole_file.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

#include <anyshape/error.h>
#include <anyshape/io.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace anyshape {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are read and written as they stand in memory");
constexpr std::string_view magic = "\x93NUMPY";

class Reader {
 public:
  explicit Reader(const std::string& path) : name_(path), file_(path), left_(file_.size()) {
    if (!file_.problem().empty()) refuse(file_.problem());
  }

  void read(char* to, int64_t bytes, std::string_view what) {
    if (bytes > left_) refuse(fmt::format("ends inside {}", what));
    if (file_.read(to, bytes) != bytes) refuse(fmt::format("cannot be read: {}", what));
    left_ -= bytes;
  }
  std::string read(int64_t bytes, std::string_view what) {
    if (bytes > left_) refuse(fmt::format("ends inside {}", what));
    std::string text(static_cast<size_t>(bytes), '\0');
    read(text.data(), bytes, what);
    return text;
  }
  int64_t left() const { return left_; }
  [[noreturn]] void refuse(std::string_view what) const {
    throw FormatError(fmt::format("load_npy: \"{}\" {}; expected a whole .npy file.", name_, what));
  }

 private:
  std::string name_;
  ReadFile file_;
  int64_t left_;
};

NpyHeader read_header(Reader& file) {
  const std::string start = file.read(static_cast<int64_t>(magic.size()) + 2, "the magic bytes");
  if (!start.starts_with(magic)) file.refuse("does not begin with NumPy's magic bytes");
  const int version = static_cast<unsigned char>(start[magic.size()]);
  if (version < 1 || version > 3 || start[magic.size() + 1] != 0) file.refuse("has an unknown version");
  const std::string length = file.read(version == 1 ? 2 : 4, "the length of the header");
  int64_t bytes = 0;
  for (size_t i = length.size(); i-- > 0;) bytes = bytes * 256 + static_cast<unsigned char>(length[i]);
  return parse_npy_header(file.read(bytes, "the header"));
}

void require_whole(const Reader& file, const NpyHeader& header) {
  int64_t bytes = size_of(header.dtype);
  // Sizes of 0 are left out: the others must fit together even where there are no elements, since strides are made of them.
  for (const int64_t size : header.shape) {
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) file.refuse("has a shape that is too large");
  }
  if (std::ranges::find(header.shape, 0) != header.shape.end()) bytes = 0;
  if (bytes != file.left()) file.refuse(fmt::format("holds {} bytes of elements where its header says {}", file.left(), bytes));
}

}  // namespace

Tensor load_npy(const std::string& path) {
  Reader file(path);
  NpyHeader header = read_header(file);
  require_whole(file, header);
  if (header.fortran_order) std::ranges::reverse(header.shape);
  const Tensor loaded = make_empty(header.dtype, header.shape);
  const int64_t bytes = file.left();
  char* const elements = host_data(loaded);
  if (bytes > 0) file.read(elements, bytes, "the elements");
  // Any byte but 0 is true; inside the library true is 1.
  if (header.dtype == Dtype::b8) std::transform(elements, elements + bytes, elements, [](char byte) { return byte != 0 ? '\1' : '\0'; });
  if (!header.fortran_order) return loaded;
  std::vector<int> reversed;
  for (int axis = static_cast<int>(header.shape.size()); axis-- > 0;) reversed.push_back(axis);
  return contiguous(transpose_view(loaded, reversed));
}

void save_npy(const std::string& path, const Tensor& tensor) {
  const TensorImpl& given = require_eager(tensor, "save_npy");
  constexpr size_t alignment = 64;
  std::string text = print_npy_header({given.dtype, false, {given.extents().begin(), given.extents().end()}});
  const size_t before = magic.size() + 4;  // a rank of 8 leaves the header far below the 65535 bytes of version 1
  text.append((alignment - (before + text.size() + 1) % alignment) % alignment, ' ');
  text += '\n';
  const Tensor dense = contiguous(tensor);
  WholeFile file("save_npy", path);
  file.write(
      fmt::format("{}{}{}{}{}{}", magic, '\1', '\0', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256), text));
  file.write({host_data(dense), static_cast<size_t>(dense.impl()->count() * size_of(given.dtype))});
  file.commit();
}

}  // namespace anyshape
