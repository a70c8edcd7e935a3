// Vectors of 8 floats. For files that are compiled with AVX2 and FMA.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace anyshape::runtime {

struct Avx2 {
  using Vector = __m256;
  using Mask = __m256i;
  using Indices = __m256i;
  static constexpr int lanes = 8, registers = 16;

  [[gnu::always_inline]] static Vector zero() { return _mm256_setzero_ps(); }
  [[gnu::always_inline]] static Vector load(const float* from) { return _mm256_loadu_ps(from); }
  [[gnu::always_inline]] static Vector load(const float* from, Mask mask) { return _mm256_maskload_ps(from, mask); }
  [[gnu::always_inline]] static Vector in_all_lanes(const float* from) { return _mm256_broadcast_ss(from); }
  [[gnu::always_inline]] static void store(float* to, Vector vector) { _mm256_storeu_ps(to, vector); }
  [[gnu::always_inline]] static void store(float* to, Vector vector, Mask mask) { _mm256_maskstore_ps(to, mask, vector); }
  [[gnu::always_inline]] static Mask first_lanes(int64_t count) {  // 0 to 8
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  [[gnu::always_inline]] static Indices load_indices(const int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  [[gnu::always_inline]] static Indices increased(Indices indices, int64_t by) {
    return _mm256_add_epi32(indices, _mm256_set1_epi32(static_cast<int>(by)));
  }
  [[gnu::always_inline]] static Vector gather(const float* from, Indices indices) { return _mm256_i32gather_ps(from, indices, 4); }
  [[gnu::always_inline]] static Vector permute(Vector vector, Indices indices) { return _mm256_permutevar8x32_ps(vector, indices); }

  // Of four neighbouring values each: one part of the vector after the other. Pairs and halves are of the values of a part.
  [[gnu::always_inline]] static Vector load_quarters(const float* from, int64_t step) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)), _mm_loadu_ps(from + step), 1);
  }
  [[gnu::always_inline]] static Vector load_quarters(const float* const* from, int64_t offset) {  // of every fourth address
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from[0] + offset)), _mm_loadu_ps(from[4] + offset), 1);
  }
  [[gnu::always_inline]] static Vector low_pairs(Vector a, Vector b) { return _mm256_unpacklo_ps(a, b); }
  [[gnu::always_inline]] static Vector high_pairs(Vector a, Vector b) { return _mm256_unpackhi_ps(a, b); }
  [[gnu::always_inline]] static Vector low_halves(Vector a, Vector b) { return _mm256_shuffle_ps(a, b, 0x44); }
  [[gnu::always_inline]] static Vector high_halves(Vector a, Vector b) { return _mm256_shuffle_ps(a, b, 0xee); }

  [[gnu::always_inline]] static void add_product(Vector& sum, Vector a, Vector b) {
#if defined(__clang__)
    sum = _mm256_fmadd_ps(a, b, sum);
#else  // g++ 12 mixes the forms of the instruction otherwise, and spills registers
    asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
#endif
  }
};

}  // namespace anyshape::runtime
