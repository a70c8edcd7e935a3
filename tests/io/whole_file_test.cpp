// Files that are written whole: killed at any moment there is the old file or the new one, and what a killed process leaves does not pile up.
#include "io/whole_file.h"

#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <set>

namespace anyshape {
namespace {

namespace fs = std::filesystem;

class WholeFiles : public testing::Test {
 protected:
  void save(char letter) const {
    WholeFile out("test", file_);
    for (int part = 0; part < 64; ++part) out.write(std::string(4096, letter));
    out.commit();
  }
  std::string text() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const fs::directory_entry& each : fs::directory_iterator(folder_.path())) found.insert(each.path().filename().string());
    return found;
  }

  test::TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "weights";
};

TEST_F(WholeFiles, a_process_that_is_killed_leaves_a_whole_file_and_its_drafts_do_not_pile_up) {
  save('a');
  size_t left_behind = 0;
  for (int round = 0; round < 60; ++round) {
    int begun[2];
    ASSERT_EQ(::pipe(begun), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      [[maybe_unused]] const ssize_t told = ::write(begun[1], "x", 1);
      for (char letter = 'a';; letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1)) save(letter);
    }
    ASSERT_GT(child, 0);
    char byte = 0;
    ASSERT_EQ(::read(begun[0], &byte, 1), 1);  // on a busy machine it takes long to begin
    ::close(begun[0]);
    ::close(begun[1]);
    ::usleep(static_cast<useconds_t>(300 + round * 97));
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const std::string found = text();
    ASSERT_EQ(found.size(), 64U * 4096U);
    ASSERT_EQ(found, std::string(found.size(), found[0]));
    left_behind += names().size() - 1;
    ASSERT_LE(names().size(), 2U) << "each process removes what the one before it left";
  }
  EXPECT_GT(left_behind, 0U) << "no process was killed while it wrote";
  save('b');
  EXPECT_EQ(names(), std::set<std::string>{"weights"});
  EXPECT_EQ(text()[0], 'b');
}

TEST_F(WholeFiles, a_draft_that_is_still_written_stays) {
  WholeFile slow("test", file_);
  slow.write("slow");
  save('a');
  EXPECT_EQ(names().size(), 2U);
  slow.commit();
  EXPECT_EQ(text(), "slow");
  EXPECT_EQ(names(), std::set<std::string>{"weights"});
}

TEST_F(WholeFiles, only_drafts_of_ours_are_removed) {
  const std::string draft = "anyshape-0123456789abcdef.draft";
  std::ofstream(folder_.path() / draft) << "left";
  const std::set<std::string> others = {"anyshape-0123456789abcdeX.draft", "anyshape-0123456789abcdef.draft.bak", "weights.1.2.temporary"};
  for (const std::string& other : others) std::ofstream(folder_.path() / other) << "kept";
  fs::create_directory(folder_.path() / "anyshape-00000000000000ab.draft");
  ASSERT_EQ(::mkfifo((folder_.path() / "anyshape-00000000000000ac.draft").c_str(), 0600), 0);  // opening it must not wait for a writer
  save('a');
  std::set<std::string> wanted = others;
  wanted.insert({"weights", "anyshape-00000000000000ab.draft", "anyshape-00000000000000ac.draft"});
  EXPECT_EQ(names(), wanted);
}

TEST_F(WholeFiles, a_long_name_leaves_room_for_its_draft) {
  file_ = folder_.path() / std::string(255, 'x');
  save('a');
  EXPECT_EQ(names(), std::set<std::string>{std::string(255, 'x')});
}

TEST_F(WholeFiles, what_is_not_committed_is_gone) {
  save('a');
  {
    WholeFile("test", file_).write("half");
  }
  EXPECT_EQ(text()[0], 'a');
  EXPECT_EQ(names(), std::set<std::string>{"weights"});
}

}  // namespace
}  // namespace anyshape
