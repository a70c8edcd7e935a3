// Comma-separated values that mean harm, or that other programs write: bounds on time, memory and the length of errors; numbers and line ends
// at the edge.
#include "support/peak_memory.h"
#include "support/temporary_folder.h"
#include "support/text_of.h"

#include <anyshape/anyshape.h>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace anyshape {
namespace {

using test::text_of;

class HostileCsv : public testing::Test {
 protected:
  const std::filesystem::path& write(const std::string& text) {
    std::ofstream(file_, std::ios::binary) << text;
    return file_;
  }
  // Goes through the file; the text of what it is refused with, within the bounds of every reader.
  std::string refusal(const CsvOptions& options = {}) {
    std::string text = "nothing was thrown";
    const std::clock_t begin = std::clock();  // of this process: others do not count
    const std::optional<int64_t> peak = test::peak_growth([&] {
      try {
        for (const Example& example : Dataset::from_csv(file_, options)) static_cast<void>(example);
      } catch (const Error& error) {
        text = error.what();
      }
    });
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 10);
    const auto bytes = static_cast<int64_t>(std::filesystem::file_size(file_));
    EXPECT_LT(peak.value_or(0), 4 * bytes + (int64_t{64} << 20));
    EXPECT_LT(text.size(), 4000U);
    return text;
  }
  std::string place(int line) const { return "Dataset::from_csv: \"" + file_.string() + "\", line " + std::to_string(line); }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "table.csv";
};

constexpr size_t large = 20'000'000;
const std::string cut_a = "\"" + std::string(77, 'a') + "...\" (20000000 bytes)";

TEST_F(HostileCsv, headers_of_commas_are_refused_before_their_columns_are_kept) {
  write(std::string(large, ','));
  EXPECT_EQ(refusal(), place(1) + ": more than 250000 fields; expected at most as many columns.");
  EXPECT_EQ(refusal({.target = "label"}), place(1) + ": more than 250000 fields; expected at most as many columns.");
  EXPECT_EQ(refusal({.header = false}), place(1) + ": more than 250000 fields; expected at most as many columns.");
  std::string most(249'999, ',');  // as many as there may be
  write(most + "\n" + most + "\n");
  EXPECT_EQ(refusal(), "Dataset::from_csv: \"" + file_.string() + "\": columns 0 and 1 are both named \"\"; expected one of that name.");
  EXPECT_TRUE(refusal({.target = "label"}).starts_with("Dataset::from_csv: \"label\" is no column; expected one of \"\", \"\", "));
  std::string names = "0";
  for (int i = 1; i < 250'000; ++i) names += "," + std::to_string(i);
  write(names + "\n" + most + "\n");
  EXPECT_EQ(refusal(), "nothing was thrown");
}

TEST_F(HostileCsv, long_fields_are_refused_with_short_texts) {
  write("c\n" + std::string(large, 'a') + "\n");
  EXPECT_EQ(refusal(), place(2) + ", column \"c\": " + cut_a +
                           " is no number; expected f32. List the column's values in .categories, or leave it out with .columns.");
  EXPECT_EQ(refusal({.categories = {{"c", {"red", "blue"}}}}),
            place(2) + ", column \"c\": " + cut_a + " is no category; expected one of \"blue\", \"red\".");
  EXPECT_TRUE(refusal({.dtypes = {{"c", i32}}}).starts_with(place(2) + ", column \"c\": " + cut_a + " is no number; expected i32."));
  EXPECT_EQ(refusal({.target = "a"}), "Dataset::from_csv: \"a\" is no column; expected \"c\".");
  write("c\n" + std::string(large, '7') + "\n");
  EXPECT_TRUE(refusal().starts_with(place(2) + ", column \"c\": \"777")) << refusal();
  write("c\n\"" + std::string(large, 'a'));
  EXPECT_EQ(refusal(), place(2) + ": a quote is not closed; expected one before the end of the file.");
  write(std::string(large, 'a') + "\nx\n");
  EXPECT_TRUE(refusal().starts_with(place(2) + ", column " + cut_a + ": \"x\" is no number")) << refusal();
  EXPECT_EQ(refusal({.target = "b"}), "Dataset::from_csv: \"b\" is no column; expected " + cut_a + ".");
}

TEST_F(HostileCsv, what_is_no_regular_file_is_refused_at_once) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(file_); }),
            "Dataset::from_csv: \"" + file_.string() + "\" is a pipe; expected a file.");
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv("/dev/zero"); }), "Dataset::from_csv: \"/dev/zero\" is a device; expected a file.");
  const std::filesystem::path name = folder_.path() / "socket";
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const int folder = ::open(folder_.path().c_str(), O_PATH | O_DIRECTORY);  // its own name may be longer than an address
  std::strncpy(address.sun_path, ("/proc/self/fd/" + std::to_string(folder) + "/socket").c_str(), sizeof(address.sun_path) - 1);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(text_of<DataError>([&] { Dataset::from_csv(name); }),
            "Dataset::from_csv: \"" + name.string() + "\" is a socket; expected a file.");
  ::close(socket);
  ::close(folder);
}

TEST_F(HostileCsv, a_column_without_a_name_is_a_column) {
  const Dataset data = Dataset::from_csv(write("a,,b\n1,2,3\n"));
  EXPECT_EQ(data.begin()->x.single().to_vector<float>(), (std::vector<float>{1, 2, 3}));
  const Dataset target = Dataset::from_csv(file_, {.target = "b"});
  EXPECT_EQ(target.begin()->x.single().to_vector<float>(), (std::vector<float>{1, 2}));
  EXPECT_EQ(Dataset::from_csv(file_, {.columns = {""}}).begin()->x.single().to_vector<float>(), std::vector<float>{2});
}

TEST_F(HostileCsv, numbers_outside_the_range_of_a_column_are_zero_or_refused) {
  auto first = [&](const std::string& text, Dtype dtype) {
    return cast(Dataset::from_csv(write("a\n" + text + "\n"), {.dtypes = {{"a", dtype}}}).begin()->x.single(), f64)
        .to_vector<double>()
        .at(0);
  };
  for (const char* const text : {"1e-400", "+1e-400", "0.00001e-395", "12345e-410", "1e-99999999999999999999", "0e99999999999999999999"}) {
    EXPECT_EQ(first(text, f64), 0) << text;
    EXPECT_FALSE(std::signbit(first(text, f32))) << text;
  }
  EXPECT_TRUE(std::signbit(first("-1e-400", f64)));
  EXPECT_EQ(first("0." + std::string(500, '0') + "1e501", f64), 1);
  EXPECT_EQ(first("1" + std::string(500, '0') + "e-500", f64), 1);
  EXPECT_EQ(first("1e300", f64), 1e300);
  EXPECT_EQ(first("-inf", f32), -std::numeric_limits<double>::infinity());
  auto refused = [&](const std::string& text, Dtype dtype) { return text_of<DataError>([&] { first(text, dtype); }); };
  EXPECT_EQ(refused("1e400", f64), place(2) + ", column \"a\": \"1e400\" is too large for f64; expected a number that it holds.");
  EXPECT_EQ(refused("-1e39", f32), place(2) +
                                       ", column \"a\": \"-1e39\" is too large for f32; expected a number that it holds. "
                                       "Read the column as f64 with .dtypes.");
  EXPECT_EQ(refused("70000", f16), place(2) +
                                       ", column \"a\": \"70000\" is too large for f16; expected a number that it holds. "
                                       "Read the column as f64 with .dtypes.");
  EXPECT_EQ(refused("1e400", i32), place(2) + ", column \"a\": \"1e400\" is out of range; expected i32, -2147483648 to 2147483647.");
  EXPECT_EQ(first("1e-400", i32), 0);
}

TEST_F(HostileCsv, two_signs_make_no_number) {
  for (const char* const text : {"+-5", "--5", "-+5", "++5", "+", "-", "5-", "+ 5", "0x10", "1e", "1e+", ".", "1_000"}) {
    for (const Dtype dtype : {f32, i64}) {
      const std::string wanted = place(3) + ", column \"b\": \"" + text + "\" is no number; expected " + std::string(to_string(dtype));
      const std::string refused = text_of<DataError>([&] {
        const Dataset data =
            Dataset::from_csv(write("a,b\n1,+5\n1," + std::string(text) + "\n"), {.columns = {"b"}, .dtypes = {{"b", dtype}}});
        for (const Example& example : data) EXPECT_EQ(cast(example.x.single(), f32).to_vector<float>(), std::vector<float>{5});
      });
      EXPECT_TRUE(refused.starts_with(wanted)) << refused;
    }
  }
}

TEST_F(HostileCsv, lines_end_in_any_of_the_three_ways) {
  for (const char* const end : {"\n", "\r\n", "\r"}) {
    const std::string e = end;
    const Dataset data = Dataset::from_csv(write("a,b" + e + "1,\"2\"" + e + e + "3,4" + e));
    std::vector<float> values;
    for (const Example& example : data) {
      for (const float value : example.x.single().to_vector<float>()) values.push_back(value);
    }
    EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 4})) << static_cast<int>(e[0]);
    write("a,b" + e + "\"1" + e + "\",2" + e + "3,x" + e);  // a line end inside quotes counts as a line
    const std::string refused = text_of<DataError>([&] {
      for (const Example& example : Dataset::from_csv(file_, {.columns = {"b"}})) static_cast<void>(example);
    });
    EXPECT_TRUE(refused.starts_with(place(4) + ", column \"b\": \"x\" is no number")) << refused;
  }
}

TEST_F(HostileCsv, only_a_whole_byte_order_mark_is_passed_over) {
  const auto first_of = [&](const std::string& text, const std::string& column) {
    return Dataset::from_csv(write(text), {.columns = {column}}).begin()->x.fields()[0].tensor.to_vector<float>();
  };
  const std::string mark = "\xef\xbb\xbf", other = "\xef\xbc\x81";
  EXPECT_EQ(first_of(mark + "a,b\n1,2\n", "a"), std::vector<float>{1});
  EXPECT_EQ(first_of(other + ",b\n1,2\n", other), std::vector<float>{1});
}

}  // namespace
}  // namespace anyshape
