// ONNX's windows and discrete Fourier transforms, which are products with tables of waves.
#include "onnx/rule.h"

#include <anyshape/ops.h>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace anyshape::onnx {
namespace {

// a - b cos(2 pi k / n) + c cos(4 pi k / n)
Results window(NodeCall& call, double a, double b, double c) {
  const Dim size = call.size(0);
  const Tensor count = cast(Value::size(call.flag("periodic", true) ? size : size - 1).tensor(), f64);
  const Tensor angle = arange(size, {.dtype = f64}) * (2 * std::numbers::pi) / count;
  return cast(a - b * cos(angle) + c * cos(2 * angle), call.dtype("output_datatype", f32));
}
Results hann_rule(NodeCall& call) { return window(call, 0.5, 0.5, 0); }
Results hamming_rule(NodeCall& call) { return window(call, 25.0 / 46, 21.0 / 46, 0); }
Results blackman_rule(NodeCall& call) { return window(call, 0.42, 0.5, 0.08); }

// cos and sin of 2 pi j k / n, of the rest of j k by n so that angles stay small: [n, count]
struct Waves {
  Waves(const Dim& rows, const Dim& columns, const Tensor& n, Dtype dtype) {
    const Tensor turns = remainder(reshape(arange(rows, {.dtype = i64}), {rows, 1}) * reshape(arange(columns, {.dtype = i64}), {1, columns}), n);
    const Tensor angle = cast(turns, f64) * (2 * std::numbers::pi) / cast(n, f64);
    cosine = cast(cos(angle), dtype);
    sine = cast(sin(angle), dtype);
  }
  Tensor cosine, sine;
};

// x [..., axis, ...] in `length` elements of it: cut, or with zeros behind.
Tensor in_length(const Tensor& x, int64_t axis, const Dim& length) {
  const Dim size = x.shape()[static_cast<int>(axis)];
  if (size.same_as(length)) return x;
  std::vector<SliceRange> ranges(static_cast<size_t>(axis) + 1);
  std::vector<PadWidth> widths(static_cast<size_t>(axis) + 1);
  const Dim kept = min(size, length);
  ranges.back().end = kept;
  widths.back().after = length - kept;
  return pad(slice(x, ranges), widths);
}

Tensor part_of(const Tensor& x, int64_t which) { return x.at(ellipsis, which); }

// Along the last axis of real and imaginary parts, of which the latter may be missing; forward -> both parts stacked behind.
Tensor transformed(const Tensor& real, const Tensor& imaginary, const Dim& length, const Dim& bins, bool inverse) {
  const Tensor n = Value::size(length).tensor();
  const Waves waves(length, bins, n, real.dtype());
  const double sign = inverse ? 1 : -1;
  Tensor re = matmul(real, waves.cosine), im = sign * matmul(real, waves.sine);
  if (imaginary.defined()) {
    re = re - sign * matmul(imaginary, waves.sine);
    im = im + matmul(imaginary, waves.cosine);
  }
  const Tensor result = stack({re, im}, {.axis = -1});
  return inverse ? result / cast(n, real.dtype()) : result;
}

Results dft_rule(NodeCall& call) {
  Tensor x = call.tensor(0);
  const bool inverse = call.flag("inverse"), onesided = call.flag("onesided"), by_input = call.opset() >= 20;
  const int64_t axis = call.axis(by_input ? (call.has(2) ? call.integer(2) : -2) : call.integer("axis", 1), x.rank());
  if (axis == x.rank() - 1) call.fail("the axis is that of real and imaginary parts", "another one");
  const int64_t parts = x.shape()[-1].specialize();  // real numbers, or both parts
  if (parts != 1 && parts != 2) call.fail(fmt::format("the last axis has {} elements", parts), "1 or 2");
  const Dim size = x.shape()[static_cast<int>(axis)];
  const Dim length = call.has(1) ? call.size(1) : inverse && onesided ? 2 * (size - 1) : size;
  x = moveaxis(x, axis, -2);
  const int64_t along = x.rank() - 2;
  if (inverse && onesided) {
    // The other half is the first one mirrored, conjugate; so each bin but the ends counts twice, and what is left is real.
    if (parts != 2) call.fail("one half of a spectrum has no imaginary parts", "2 elements along the last axis");
    const Dim half = length / 2 + 1;
    x = in_length(x, along, half);
    const Waves waves(half, length, Value::size(length).tensor(), x.dtype());
    const Tensor bin = reshape(arange(half, {.dtype = i64}), {half, 1}), n = Value::size(length).tensor();
    const Tensor weight = cast(where(logical_or(bin == 0, 2 * bin == n), 1, 2), x.dtype()) / cast(n, x.dtype());
    const Tensor real = matmul(part_of(x, 0), waves.cosine * weight) - matmul(part_of(x, 1), waves.sine * weight);
    return moveaxis(expand_dims(real, -1), -2, axis);
  }
  x = in_length(x, along, length);
  const Tensor result = transformed(part_of(x, 0), parts == 2 ? part_of(x, 1) : Tensor(), length, onesided ? length / 2 + 1 : length, inverse);
  return moveaxis(result, -2, axis);
}

// Overlapping frames of a signal [batch, length, 1 or 2], each transformed.
Results stft_rule(NodeCall& call) {
  const Tensor x = call.tensor(0);
  const Dim step = call.size(1);
  const bool onesided = call.flag("onesided", true);
  const Dim length = call.has(3) ? call.size(3) : call.has(2) ? call.shape(2)[0] : x.shape()[1];
  const Dim frames = (x.shape()[1] - length) / step + 1;
  const Tensor place = reshape(arange(frames, {.dtype = i64}) * Value::size(step).tensor(), {frames, 1}) + reshape(arange(length, {.dtype = i64}), {1, length});
  const Tensor parts = x.rank() == 3 ? x : expand_dims(x, -1);
  Tensor cut = take(parts, place, {.axis = 1});  // [batch, frames, length, parts]
  if (call.has(2)) cut = cut * reshape(call.tensor(2), {length, 1});
  const bool is_complex = parts.shape()[-1] == 2;
  return transformed(part_of(cut, 0), is_complex ? part_of(cut, 1) : Tensor(), length, onesided ? length / 2 + 1 : length, false);
}

// How much each bin of a spectrum counts for each band of equal width in mel: triangles.
Results mel_rule(NodeCall& call) {
  const int64_t bands = call.integer(0), length = call.integer(1), rate = call.integer(2);
  const double lowest = call.number(3), highest = call.number(4);
  if (bands < 1 || length < 1 || rate < 1 || bands > 1 << 16 || length > 1 << 24) call.fail("a number is out of range", "bands, length and rate above 0");
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double width = (mel(highest) - mel(lowest)) / static_cast<double>(bands + 2);
  const int64_t bins = length / 2 + 1;
  std::vector<int64_t> border;
  for (int64_t band = 0; band < bands + 2; ++band) {
    const double hertz = 700 * (std::pow(10, (static_cast<double>(band) * width + mel(lowest)) / 2595) - 1);
    border.push_back(static_cast<int64_t>(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    if (border.back() < 0 || border.back() >= bins) call.fail("a band lies outside of the spectrum", "edges from 0 to half of the rate");
  }
  std::vector<double> weights(static_cast<size_t>(bins * bands), 0.0);
  for (int64_t band = 0; band < bands; ++band) {
    const int64_t left = border[static_cast<size_t>(band)], middle = border[static_cast<size_t>(band) + 1], right = border[static_cast<size_t>(band) + 2];
    const auto at = [&](int64_t bin) -> double& { return weights[static_cast<size_t>(bin * bands + band)]; };
    if (middle == left) at(middle) = 1;
    for (int64_t bin = left; middle > left && bin <= middle; ++bin) at(bin) = static_cast<double>(bin - left) / static_cast<double>(middle - left);
    for (int64_t bin = middle; bin < right; ++bin) at(bin) = static_cast<double>(right - bin) / static_cast<double>(right - middle);
  }
  return cast(tensor(weights, {bins, bands}), call.dtype("output_datatype", f32));
}

constexpr RuleEntry entries[] = {
    {"HannWindow", 17, hann_rule}, {"HammingWindow", 17, hamming_rule}, {"BlackmanWindow", 17, blackman_rule},
    {"DFT", 17, dft_rule},         {"STFT", 17, stft_rule},             {"MelWeightMatrix", 17, mel_rule},
};

}  // namespace

const RuleTable signal_rules = entries;

}  // namespace anyshape::onnx
