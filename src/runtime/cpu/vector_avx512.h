// Vectors of 16 floats. For files that are compiled with AVX-512.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace anyshape::runtime {

struct Avx512 {
  using Vector = __m512;
  using Mask = __mmask16;
  using Indices = __m512i;
  static constexpr int lanes = 16, registers = 32;

  [[gnu::always_inline]] static Vector zero() { return _mm512_setzero_ps(); }
  [[gnu::always_inline]] static Vector load(const float* from) { return _mm512_loadu_ps(from); }
  [[gnu::always_inline]] static Vector load(const float* from, Mask mask) { return _mm512_maskz_loadu_ps(mask, from); }
  [[gnu::always_inline]] static Vector in_all_lanes(const float* from) { return _mm512_set1_ps(*from); }
  [[gnu::always_inline]] static void store(float* to, Vector vector) { _mm512_storeu_ps(to, vector); }
  [[gnu::always_inline]] static void store(float* to, Vector vector, Mask mask) { _mm512_mask_storeu_ps(to, mask, vector); }
  [[gnu::always_inline]] static Mask first_lanes(int64_t count) { return static_cast<Mask>((uint32_t{1} << count) - 1); }  // 0 to 16
  [[gnu::always_inline]] static Indices load_indices(const int32_t* from) { return _mm512_loadu_si512(from); }
  [[gnu::always_inline]] static Indices increased(Indices indices, int64_t by) {
    return _mm512_add_epi32(indices, _mm512_set1_epi32(static_cast<int>(by)));
  }
  [[gnu::always_inline]] static Vector gather(const float* from, Indices indices) { return _mm512_i32gather_ps(indices, from, 4); }
  [[gnu::always_inline]] static Vector permute(Vector vector, Indices indices) { return _mm512_permutexvar_ps(indices, vector); }

  // Of four neighbouring values each: one part of the vector after the other. Pairs and halves are of the values of a part.
  [[gnu::always_inline]] static Vector load_quarters(const float* from, int64_t step) {
    Vector result = _mm512_castps128_ps512(_mm_loadu_ps(from));
    result = _mm512_insertf32x4(result, _mm_loadu_ps(from + step), 1);
    result = _mm512_insertf32x4(result, _mm_loadu_ps(from + 2 * step), 2);
    return _mm512_insertf32x4(result, _mm_loadu_ps(from + 3 * step), 3);
  }
  [[gnu::always_inline]] static Vector load_quarters(const float* const* from, int64_t offset) {  // of every fourth address
    Vector result = _mm512_castps128_ps512(_mm_loadu_ps(from[0] + offset));
    result = _mm512_insertf32x4(result, _mm_loadu_ps(from[4] + offset), 1);
    result = _mm512_insertf32x4(result, _mm_loadu_ps(from[8] + offset), 2);
    return _mm512_insertf32x4(result, _mm_loadu_ps(from[12] + offset), 3);
  }
  [[gnu::always_inline]] static Vector low_pairs(Vector a, Vector b) { return _mm512_unpacklo_ps(a, b); }
  [[gnu::always_inline]] static Vector high_pairs(Vector a, Vector b) { return _mm512_unpackhi_ps(a, b); }
  [[gnu::always_inline]] static Vector low_halves(Vector a, Vector b) { return _mm512_shuffle_ps(a, b, 0x44); }
  [[gnu::always_inline]] static Vector high_halves(Vector a, Vector b) { return _mm512_shuffle_ps(a, b, 0xee); }

  [[gnu::always_inline]] static void add_product(Vector& sum, Vector a, Vector b) {
#if defined(__clang__)
    sum = _mm512_fmadd_ps(a, b, sum);
#else  // g++ 12 mixes the forms of the instruction otherwise, with copies between registers
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
#endif
  }
};

}  // namespace anyshape::runtime
