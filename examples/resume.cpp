// Training that goes on after a crash: `resume` trains a small model and writes its whole state after every 20 steps. Kill it at any moment and start it
// again: it goes on from the last file, in the middle of an epoch, too, and its losses are those of a training that nobody killed.
// `resume --demonstrate` shows this by itself: it starts the training, kills it several times, and compares with one that was left alone.
#include <anyshape/anyshape.h>

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace as = anyshape;
using as::Tensor;

namespace {

constexpr int64_t epochs = 8;

// Writes a line per epoch, and is slow, so that there is time to kill it.
class Report : public as::Callback {
 public:
  void on_batch_end(as::Model&, int64_t, const as::Scores&) override { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }
  void on_epoch_end(as::Model&, int64_t epoch, const as::Scores& scores) override {
    std::printf("epoch %lld  loss %.9f\n", static_cast<long long>(epoch + 1), scores["loss"]);
    std::fflush(stdout);
  }
};

void train(const std::filesystem::path& file) {
  as::random::set_seed(1);
  const Tensor x = as::random::normal({1600, 8});
  const Tensor y = as::sum(as::sin(x), {.axis = 1, .keep_dims = true});
  as::Sequential model(as::Dense(32, {.activation = "relu"}), as::Dropout(0.1), as::Dense(1));
  model.compile({.optimizer = as::adam({.learning_rate = as::cosine_decay(0.01, 400)}), .loss = "mse"});

  as::FitOptions options{.epochs = epochs, .verbose = as::Verbose::Silent};
  options.callbacks = {Report(), as::ModelCheckpoint(file.string(), {.save_freq = 20})};
  if (std::filesystem::exists(file)) {
    std::printf("going on from %s\n", file.filename().c_str());
    options.resume_from = file;
  }
  model.fit(x, y, options);
}

// The lines that a process of this program writes; one that is killed after a while ends early.
std::vector<std::string> lines_of(const std::filesystem::path& program, const std::filesystem::path& file, int milliseconds) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::execl(program.c_str(), program.c_str(), file.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::thread killer;
  if (milliseconds > 0) {
    killer = std::thread([=] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      ::kill(child, SIGKILL);  // the child is not waited for before this, so no other process has its number
    });
  }
  std::vector<std::string> lines;
  std::FILE* const out = ::fdopen(ends[0], "r");
  char line[256];
  while (std::fgets(line, sizeof line, out) != nullptr) lines.emplace_back(line);
  std::fclose(out);
  if (killer.joinable()) killer.join();
  int status = 0;
  ::waitpid(child, &status, 0);
  return lines;
}

int demonstrate(const std::filesystem::path& program) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("resume-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::vector<std::string> whole = lines_of(program, folder / "whole.safetensors", 0);
  std::vector<std::string> last;
  int kills = 0;
  bool is_going_on = false;
  for (int wait = 150; last.empty() || last.back() != whole.back(); wait += 150) {
    last = lines_of(program, folder / "killed.safetensors", wait);
    if (!last.empty() && last.back() == whole.back()) break;
    ++kills;
    if (kills == 100) break;
  }
  // What the last process wrote: where it went on from, then lines of the training that was left alone, up to its last one.
  if (!last.empty() && last.front().rfind("going on", 0) == 0) {
    is_going_on = true;
    last.erase(last.begin());
  }
  bool is_equal = !last.empty() && whole.size() == static_cast<size_t>(epochs) && last.size() <= whole.size();
  for (size_t i = 0; is_equal && i < last.size(); ++i) is_equal = last[last.size() - 1 - i] == whole[whole.size() - 1 - i];
  std::filesystem::remove_all(folder);
  std::printf("%s", whole.back().c_str());
  std::printf("killed %s, %s: %s\n", kills > 0 ? "and started again" : "not once", is_going_on ? "it went on" : "it began anew",
              is_equal ? "the same losses, bit for bit" : "other losses");
  return is_equal && is_going_on && kills > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string argument = argc > 1 ? argv[1] : "resume.safetensors";
  if (argument == "--demonstrate") return demonstrate(std::filesystem::canonical("/proc/self/exe"));
  train(argument);
}
