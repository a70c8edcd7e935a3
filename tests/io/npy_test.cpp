// .npy files: bytes that NumPy wrote, files of our own, and hostile ones.
#include <anyshape/error.h>
#include <anyshape/io.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "io/npy_header.h"
#include "ops/expect_error.h"
#include "support/temporary_folder.h"
#include "tensor/host_data.h"
#include "tensor/view.h"

namespace anyshape {
namespace {

using std::string_literals::operator""s;

class Npy : public testing::Test {
 protected:
  std::string path(const std::string& name = "x.npy") const { return (folder_.path() / name).string(); }
  Tensor load(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return load_npy(path());
  }
  std::string bytes_of_file() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {})); }

 private:
  test::TemporaryFolder folder_;
};

// As numpy.save (2.4) writes them: header text, padding to 128 bytes, elements.
std::string numpy_file(const std::string& header, const std::string& elements) {
  return "\x93NUMPY\x01\x00v\x00"s + header + std::string(117 - header.size(), ' ') + "\n" + elements;
}
const std::string c_order = numpy_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                                       "\x00\x00\xc0\x3f\x00\x00\x00\xc0\x00\x00\x40\x40\x00\x00\x80\x40\x00\x00\xa0\x40\x00\x00\xc0\x40"s);

TEST_F(Npy, loads_what_numpy_wrote) {
  EXPECT_TRUE(all_equal(load(c_order), tensor({{1.5F, -2.F, 3.F}, {4.F, 5.F, 6.F}})));
  const Tensor flags = load(numpy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", "\x01\x00\x01"s));
  EXPECT_EQ(flags.to_vector<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(load(numpy_file("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\x01\x02\xff")).to_vector<uint8_t>(),
            (std::vector<uint8_t>{1, 2, 255}));
  EXPECT_EQ(load(numpy_file("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", "\xf9\xff\xff\xff")).item<int32_t>(), -7);
  const Tensor empty = load(numpy_file("{'descr': '<i8', 'fortran_order': False, 'shape': (0, 3), }", ""));
  EXPECT_TRUE(empty.shape() == (Shape{0, 3}) && empty.dtype() == i64);
  const Tensor half = load(numpy_file("{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }", "\x00\xb8"s));
  EXPECT_EQ(half.item<float>(), -0.5F);
}

TEST_F(Npy, loads_fortran_order_and_version_two) {
  const std::string columns =
      "\x00\x00\x00\x00\x00\x00\xf8\x3f\x00\x00\x00\x00\x00\x00\x10\x40\x00\x00\x00\x00\x00\x00\x00\xc0"
      "\x00\x00\x00\x00\x00\x00\x14\x40\x00\x00\x00\x00\x00\x00\x08\x40\x00\x00\x00\x00\x00\x00\x18\x40"s;
  const Tensor fortran = load(numpy_file("{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", columns));
  EXPECT_TRUE(all_equal(fortran, tensor({{1.5, -2., 3.}, {4., 5., 6.}})));
  EXPECT_TRUE(is_contiguous(*fortran.impl()));
  const std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
  const Tensor second = load("\x93NUMPY\x02\x00t\x00\x00\x00"s + header + std::string(58, ' ') + "\n\x01\x00\x00\x00\x02\x00\x00\x00"s);
  EXPECT_EQ(second.to_vector<int32_t>(), (std::vector<int32_t>{1, 2}));
}

TEST_F(Npy, a_byte_that_is_neither_0_nor_1_is_true) {
  const Tensor flags = load(numpy_file("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x80\x00"s));
  EXPECT_EQ(host_data(flags)[0], 1);
  EXPECT_EQ(flags.to_vector<bool>(), (std::vector<bool>{true, false}));
}

TEST_F(Npy, loads_what_it_saved_in_every_dtype_and_rank) {
  const std::vector<Tensor> samples = {tensor({true, false}),     tensor(std::vector<uint8_t>{0, 255}, Shape{2}),
                                       tensor({{1, -2}, {3, 4}}), tensor(std::vector<int64_t>{INT64_MIN}, Shape{}),
                                       tensor({1.5F, -0.F}),      tensor(std::vector<double>{}, Shape{2, 0, 3}),
                                       make_scalar(f16, 2.5),     tensor(std::vector<int32_t>{7}, Shape{1, 1, 1, 1, 1, 1, 1, 1})};
  for (const Tensor& sample : samples) {
    save_npy(path(), sample);
    const Tensor again = load_npy(path());
    EXPECT_EQ(again.dtype(), sample.dtype());
    EXPECT_TRUE(again.shape() == sample.shape());
    EXPECT_TRUE(all_equal(again, sample));
    const size_t elements = static_cast<size_t>(sample.impl()->count() * size_of(sample.dtype()));
    EXPECT_EQ((bytes_of_file().size() - elements) % 64, 0U) << "the elements are aligned";
  }
  EXPECT_EQ(files(), 1U) << "no temporary file stays";
}

TEST_F(Npy, saves_a_view_in_row_major_order) {
  const int swapped[] = {1, 0};
  save_npy(path(), transpose_view(tensor({{1, 2, 3}, {4, 5, 6}}), swapped));
  EXPECT_TRUE(all_equal(load_npy(path()), tensor({{1, 4}, {2, 5}, {3, 6}})));
  EXPECT_NE(bytes_of_file().find("{'descr': '<i4', 'fortran_order': False, 'shape': (3, 2), }"), std::string::npos);
}

TEST_F(Npy, every_cut_is_refused) {
  for (size_t length = 0; length < c_order.size(); ++length) EXPECT_THROW(load(c_order.substr(0, length)), FormatError) << length;
  EXPECT_THROW(load(c_order + "x"), FormatError);
}

TEST_F(Npy, every_flipped_bit_loads_or_is_refused) {
  for (size_t at = 0; at < c_order.size(); ++at) {
    for (int change = 1; change < 256; change *= 2) {
      std::string bytes = c_order;
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ static_cast<unsigned>(change));
      try {
        const Tensor loaded = load(bytes);
        EXPECT_EQ(loaded.impl()->count() * size_of(loaded.dtype()), 24) << at;
      } catch (const FormatError&) {
        EXPECT_LT(at, 128U) << "elements may be anything";
      }
    }
  }
}

TEST_F(Npy, headers_that_lie_are_refused_before_memory_is_asked_for) {
  for (const char* shape : {"(4611686018427387904,)", "(9223372036854775807, 9223372036854775807)", "(0, 9223372036854775807, 3)", "(-1,)",
                            "(99999999999999999999,)", "(1,1,1,1,1,1,1,1,1)", "(6)", "6", "(6", "(,)", "('6',)", "(2, 4)", "(1e3,)"}) {
    const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': "s + shape + ", }";
    EXPECT_THROW(load(numpy_file(header, std::string(24, '\0'))), FormatError) << shape;
  }
  for (const char* descr : {"'>f4'", "'<c8'", "'|O'", "'<U3'", "[('a', '<f4')]", "''", "'f4'", "'|f4'", "None"}) {
    const std::string header = "{'descr': "s + descr + ", 'fortran_order': False, 'shape': (6,), }";
    EXPECT_THROW(load(numpy_file(header, std::string(24, '\0'))), FormatError) << descr;
  }
  EXPECT_THROW(load("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"s), FormatError);
  EXPECT_THROW(load("\x93NUMPY\x04\x00v\x00"s + c_order.substr(10)), FormatError);
}

TEST_F(Npy, says_what_is_wrong) {
  const std::string name = path();
  expect_error<FormatError>([&] { load_npy(path("missing")); },
                            "load_npy: \"" + path("missing") + "\" is no file that can be read; expected a whole .npy file.");
  expect_error<FormatError>([&] { load(c_order + "1234"); },
                            "load_npy: \"" + name + "\" holds 28 bytes of elements where its header says 24; expected a whole .npy file.");
  expect_error<FormatError>([&] { load(numpy_file("{'descr': '>f4', 'fortran_order': False, 'shape': (6,), }", "")); },
                            "npy: dtype '>f4' is not supported; expected one of |b1, |u1, <i4, <i8, <f2, <f4, <f8 (little endian).");
  expect_error<ArgumentError>(
      [&] { save_npy(path("no/folder"), tensor({1})); },
      "save_npy: cannot write \"" + path("no/folder") + "\": No such file or directory; expected a path in a folder that may be written.");
  expect_error<ArgumentError>(
      [&] { save_npy(path(), Tensor()); },
      "save_npy: the tensor is undefined; expected a tensor with a value. It was made by Tensor() and never assigned.");
  expect_error<DtypeError>([&] { save_npy(path(), make_scalar(bf16, 1.0)); },
                           "save_npy: the tensor is bf16; expected a dtype that NumPy has. Use cast(tensor, as::f32) first.");
}

TEST_F(Npy, a_save_that_fails_leaves_what_was_there) {
  std::filesystem::create_directory(path("taken"));
  EXPECT_THROW(save_npy(path("taken"), tensor({1})), ArgumentError);
  EXPECT_EQ(files(), 1U) << "the temporary file is gone";
  save_npy(path(), tensor({1}));
  EXPECT_THROW(save_npy(path(), make_scalar(bf16, 1.0)), DtypeError);
  EXPECT_TRUE(all_equal(load_npy(path()), tensor({1})));
}

}  // namespace
}  // namespace anyshape
