// Hand-written loop programs through the emitter: each with sizes as parameters and with the same sizes as constants, interleaved in one
// process. `loop_bench <folder of programs>` runs all; `loop_bench <folder> lstm <time> <seconds>` prints samples of the LSTM alone.
#include <anyshape/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <sstream>

#include "base/float_state.h"
#include "codegen/jit.h"
#include "codegen/target.h"
#include "loop/text.h"
#include "runtime/cpu/externs.h"
#include "runtime/cpu/product.h"
#include "runtime/cpu/warm_up.h"

namespace {

using namespace anyshape;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}
double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1))];
}

loop::Kernel read_program(const std::string& folder, const std::string& name) {
  std::ifstream file(folder + "/" + name + ".loop");
  if (!file) throw ArgumentError("loop_bench: no program " + folder + "/" + name + ".loop");
  std::stringstream text;
  text << file.rdbuf();
  return loop::parse(text.str());
}

void substitute(loop::Block& block, const std::vector<int64_t>& dims) {
  for (loop::Instruction& instruction : block) {
    if (instruction.op == loop::Op::Size) {
      instruction.op = loop::Op::Constant;
      instruction.integer = dims[static_cast<size_t>(instruction.integer)];
    }
    substitute(instruction.body, dims);
    substitute(instruction.otherwise, dims);
  }
}

// The same program for these sizes only. Reading it back from text folds what has become constant.
loop::Kernel specialize(loop::Kernel kernel, const std::vector<int64_t>& dims) {
  substitute(kernel.body, dims);
  return loop::parse(loop::print(kernel));
}

// Memory of a buffer: aligned to 64 bytes, with the slack that loads may touch. Copies are deep.
struct Array {
  int64_t length;
  std::vector<std::byte> bytes;
  std::byte* start;

  explicit Array(int64_t count) : length(count * 4), bytes(static_cast<size_t>(length + loop::load_slack + 64)) {
    start = bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
  }
  Array(const Array& other) : Array(other.length / 4) { std::memcpy(start, other.start, static_cast<size_t>(length)); }
  Array(Array&&) = default;
  Array& operator=(const Array&) = delete;
  bool operator==(const Array& other) const { return std::memcmp(start, other.start, static_cast<size_t>(length)) == 0; }
  float* floats() { return reinterpret_cast<float*>(start); }
  void fill(double scale) {
    uint32_t state = 12345;
    for (int64_t i = 0; i < length / 4; ++i) {
      state = state * 1664525 + 1013904223;
      floats()[i] = static_cast<float>((static_cast<double>(state >> 8) / (1 << 24) - 0.5) * scale);
    }
  }
};

class Program {
 public:
  explicit Program(loop::Kernel kernel) : kernel_(std::move(kernel)) {
    const loop::Kernel* const kernels[] = {&kernel_};
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
      const double start = processor_seconds();
      code_ = codegen::compile(kernels, runtime::find_extern, codegen::host_target());
      times.push_back(processor_seconds() - start);
    }
    compile_ms_ = quantile(times, 0.5) * 1e3;
  }
  void run(AsContext* context, std::vector<Array>& arrays, const std::vector<int64_t>& dims) const {
    std::vector<void*> pointers;
    for (Array& array : arrays) pointers.push_back(array.start);
    const FlushDenormals state;
    if (code_->entry(0)(context, pointers.data(), dims.data()) != 0) throw InternalError("loop_bench: a kernel failed");
  }
  double compile_ms() const { return compile_ms_; }
  int64_t code_bytes() const { return code_->code_bytes(); }

 private:
  loop::Kernel kernel_;
  std::shared_ptr<const codegen::CompiledKernels> code_;
  double compile_ms_ = 0;
};

// Seconds a call. With one thread they are the processor's, which other programs on the machine disturb least; with more, the clock's.
double sample(const std::function<void()>& call, int64_t calls) {
  const auto clock = runtime::Pool::shared().threads() == 1 ? processor_seconds : seconds;
  const double start = clock();
  for (int64_t i = 0; i < calls; ++i) call();
  return (clock() - start) / static_cast<double>(calls);
}

void compare(AsContext* context, const loop::Kernel& kernel, const std::string& label, const std::vector<int64_t>& dims,
             const std::vector<Array>& arrays) {
  const Program generic(kernel), constant(specialize(kernel, dims));
  std::vector<Array> first = arrays, second = arrays;
  generic.run(context, first, dims);
  constant.run(context, second, dims);
  const bool equal = first == second;
  const auto run_generic = [&] { generic.run(context, first, dims); };
  const auto run_constant = [&] { constant.run(context, first, dims); };
  const auto calls = std::max<int64_t>(1, static_cast<int64_t>(2e-3 / sample(run_generic, 3)));
  std::vector<double> ratios, generic_times, constant_times;
  for (int round = 0; round < 101; ++round) {
    const bool swapped = round % 2 == 1;
    const double a = swapped ? 0 : sample(run_generic, calls), b = sample(run_constant, calls),
                 c = swapped ? sample(run_generic, calls) : a;
    generic_times.push_back(c);
    constant_times.push_back(b);
    ratios.push_back(c / b);
  }
  std::printf("%-28s %9.2f us  constants %9.2f us  ratio %.3f (%.3f .. %.3f)  compile %.2f / %.2f ms  %lld / %lld bytes  %s\n",
              label.c_str(), quantile(generic_times, 0.5) * 1e6, quantile(constant_times, 0.5) * 1e6, quantile(ratios, 0.5),
              quantile(ratios, 0.25), quantile(ratios, 0.75), generic.compile_ms(), constant.compile_ms(),
              static_cast<long long>(generic.code_bytes()), static_cast<long long>(constant.code_bytes()),
              equal ? "equal bits" : "RESULTS DIFFER");
}

struct Lstm {
  int64_t time, batch = 32, inputs = 64, hidden = 128, ld = 4 * 128 + 16, ld_turned = 128 + 16;
  Array x, wx, wh, bias, gates, h, c, squashed, dy, dgates, dh, dc, wh_turned, dx, dwx, dwh, dbias;

  explicit Lstm(int64_t steps)
      : time(steps),
        x(steps * batch * inputs),
        wx(inputs * ld),
        wh(hidden * ld),
        bias(4 * hidden),
        gates(steps * batch * ld),
        h((steps + 1) * batch * hidden),
        c((steps + 1) * batch * hidden),
        squashed(steps * batch * hidden),
        dy(steps * batch * hidden),
        dgates(steps * batch * ld),
        dh(batch * hidden),
        dc(batch * hidden),
        wh_turned(4 * hidden * ld_turned),
        dx(steps * batch * inputs),
        dwx(inputs * ld),
        dwh(hidden * ld),
        dbias(4 * hidden) {
    x.fill(1);
    wx.fill(0.2);
    wh.fill(0.2);
    bias.fill(1);
    dy.fill(1);
  }
  std::vector<int64_t> dims() const { return {time, batch, inputs, hidden, ld, ld_turned}; }
  std::vector<void*> forward() { return {x.start, wx.start, wh.start, bias.start, gates.start, h.start, c.start, squashed.start}; }
  std::vector<void*> backward() {
    return {x.start,      wx.start, wh.start, gates.start,     h.start,  c.start,   squashed.start, dy.start,
            dgates.start, dh.start, dc.start, wh_turned.start, dx.start, dwx.start, dwh.start,      dbias.start};
  }
  std::vector<Array> forward_arrays() { return {x, wx, wh, bias, gates, h, c, squashed}; }
  std::vector<Array> backward_arrays() { return {x, wx, wh, gates, h, c, squashed, dy, dgates, dh, dc, wh_turned, dx, dwx, dwh, dbias}; }
};

void run_kernel(AsKernel kernel, AsContext* context, const std::vector<void*>& pointers, const std::vector<int64_t>& dims) {
  const FlushDenormals state;
  if (kernel(context, pointers.data(), dims.data()) != 0) throw InternalError("loop_bench: a kernel failed");
}

// The hidden state and one directional derivative against plain loops in f64.
void check_lstm(Lstm& l) {
  const auto f = [](Array& array) { return array.floats(); };
  const auto forward = [&](double step, double* largest_error) {
    std::vector<double> h(static_cast<size_t>(l.batch * l.hidden)), c = h, gate(static_cast<size_t>(4 * l.hidden));
    double loss = 0;
    for (int64_t t = 0; t < l.time; ++t) {
      std::vector<double> next = h;
      for (int64_t n = 0; n < l.batch; ++n) {
        for (int64_t j = 0; j < 4 * l.hidden; ++j) {
          const auto direction = [&](int64_t k) { return step * static_cast<double>((k * 7 + j * 3) % 5 - 2); };
          double a = f(l.bias)[j];
          for (int64_t k = 0; k < l.inputs; ++k) a += f(l.x)[(t * l.batch + n) * l.inputs + k] * (f(l.wx)[k * l.ld + j] + direction(k));
          for (int64_t k = 0; k < l.hidden; ++k) a += h[static_cast<size_t>(n * l.hidden + k)] * (f(l.wh)[k * l.ld + j] + direction(k));
          gate[static_cast<size_t>(j)] = a;
        }
        for (int64_t j = 0; j < l.hidden; ++j) {
          const auto at = [&](int64_t g) { return gate[static_cast<size_t>(g * l.hidden + j)]; };
          const auto sigmoid = [](double z) { return 1 / (1 + std::exp(-z)); };
          double& cell = c[static_cast<size_t>(n * l.hidden + j)];
          cell = sigmoid(at(1)) * cell + sigmoid(at(0)) * std::tanh(at(2));
          const double state = sigmoid(at(3)) * std::tanh(cell);
          next[static_cast<size_t>(n * l.hidden + j)] = state;
          loss += state * f(l.dy)[(t * l.batch + n) * l.hidden + j];
          if (largest_error != nullptr)
            *largest_error = std::max(*largest_error, std::fabs(state - f(l.h)[((t + 1) * l.batch + n) * l.hidden + j]));
        }
      }
      h = next;
    }
    return loss;
  };
  double error = 0, analytic = 0;
  forward(0, &error);
  const double numeric = (forward(1e-4, nullptr) - forward(-1e-4, nullptr)) / 2e-4;
  for (int64_t j = 0; j < 4 * l.hidden; ++j) {
    for (int64_t k = 0; k < l.inputs; ++k) analytic += f(l.dwx)[k * l.ld + j] * static_cast<double>((k * 7 + j * 3) % 5 - 2);
    for (int64_t k = 0; k < l.hidden; ++k) analytic += f(l.dwh)[k * l.ld + j] * static_cast<double>((k * 7 + j * 3) % 5 - 2);
  }
  std::printf("lstm check, %lld steps: largest error of h %.2e; derivative along a direction %.6f, by differences %.6f\n",
              static_cast<long long>(l.time), error, analytic, numeric);
}

void sample_lstm(AsContext* context, const std::string& folder, int64_t time, double budget) {
  const loop::Kernel forward = read_program(folder, "lstm_forward"), backward = read_program(folder, "lstm_backward");
  const loop::Kernel* const kernels[] = {&forward, &backward};
  const auto code = codegen::compile(kernels, runtime::find_extern, codegen::host_target());
  Lstm lstm(time);
  const auto run_forward = [&] { run_kernel(code->entry(0), context, lstm.forward(), lstm.dims()); };
  const auto run_backward = [&] { run_kernel(code->entry(1), context, lstm.backward(), lstm.dims()); };
  run_forward();
  run_backward();
  if (time <= 8) check_lstm(lstm);
  std::vector<double> forwards, backwards;
  for (const double start = seconds(); seconds() - start < budget;) {
    forwards.push_back(sample(run_forward, 3));
    backwards.push_back(sample(run_backward, 3));
  }
  std::printf("forward %.3f backward %.3f ms (medians of %zu), lowest %.3f %.3f\n", quantile(forwards, 0.5) * 1e3,
              quantile(backwards, 0.5) * 1e3, forwards.size(), quantile(forwards, 0) * 1e3, quantile(backwards, 0) * 1e3);
}

std::vector<Array> arrays_of(std::initializer_list<int64_t> counts) {
  std::vector<Array> arrays;
  for (const int64_t count : counts) {
    arrays.emplace_back(count);
    arrays.back().fill(4);
  }
  return arrays;
}

void compare_all(AsContext* context, const std::string& folder) {
  const loop::Kernel bias_add = read_program(folder, "bias_add"), sum_to = read_program(folder, "sum_to");
  for (const auto& [n, m] : {std::pair<int64_t, int64_t>{64, 10}, {64, 512}, {1000, 300}, {1000, 1000}}) {
    for (const int64_t k : {m, int64_t{1}}) {
      const std::string sizes = " [" + std::to_string(n) + ", " + std::to_string(m) + "] k " + std::to_string(k);
      compare(context, bias_add, "bias_add" + sizes, {n, m, k}, arrays_of({n * m, k, n * m}));
      compare(context, sum_to, "sum_to" + sizes, {n, m, k}, arrays_of({n * m, n * m / 65536 + 1, k}));
    }
  }
  for (const int64_t longest : {40, 400}) {
    const int64_t rows = 1000;
    std::vector<int64_t> splits = {0};
    for (int64_t r = 0; r < rows; ++r) splits.push_back(splits.back() + r * 7919 % longest);
    std::vector<Array> arrays = arrays_of({splits.back(), 2 * (rows + 1), splits.back()});
    std::memcpy(arrays[1].start, splits.data(), splits.size() * sizeof(int64_t));
    compare(context, read_program(folder, "ragged_softmax"), "ragged_softmax rows < " + std::to_string(longest), {rows}, arrays);
  }
  for (const int64_t time : {10, 100}) {
    Lstm lstm(time);
    const loop::Kernel forward = read_program(folder, "lstm_forward");
    const loop::Kernel* const kernels[] = {&forward};
    run_kernel(codegen::compile(kernels, runtime::find_extern, codegen::host_target())->entry(0), context, lstm.forward(), lstm.dims());
    compare(context, forward, "lstm_forward T " + std::to_string(time), lstm.dims(), lstm.forward_arrays());
    compare(context, read_program(folder, "lstm_backward"), "lstm_backward T " + std::to_string(time), lstm.dims(), lstm.backward_arrays());
  }
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count < 2) throw ArgumentError("usage: loop_bench <folder of programs> [lstm <time> <seconds>]");
    runtime::start_warming_up_products();
    AsContext context = runtime::make_context(runtime::Pool::shared());
    std::printf("%s, %d threads\n", codegen::description(codegen::host_target()).c_str(), runtime::Pool::shared().threads());
    if (count >= 5 && std::string(arguments[2]) == "lstm") {
      sample_lstm(&context, arguments[1], std::atoll(arguments[3]), std::atof(arguments[4]));
    } else {
      compare_all(&context, arguments[1]);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
