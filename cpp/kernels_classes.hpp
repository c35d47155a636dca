// Sums of a sparse column by class, for many permutations of the classes at once.
#pragma once
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels.hpp"

namespace {
using ispca::kClassStrip;
using ispca::kMostClasses;
using std::size_t;

// How many entries ahead the codes of a sample are fetched: they lie anywhere in memory.
constexpr size_t kAhead = 12;

inline void fetch(const std::uint8_t* address) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

// Adds every entry to the sum of its class in memory, which takes as long for any number of classes.
template <class Value>
void add_by_code(size_t count, const Value* values, const std::int32_t* rows, const std::uint8_t* codes, double* sums) {
  for (size_t k = 0; k < count; ++k) {
    if (k + kAhead < count) fetch(codes + static_cast<size_t>(rows[k + kAhead]) * kClassStrip);
    const std::uint8_t* code = codes + static_cast<size_t>(rows[k]) * kClassStrip;
    const double x = static_cast<double>(values[k]);
    for (size_t l = 0; l < kClassStrip; ++l) sums[code[l] * kClassStrip + l] += x;
  }
}

#if defined(__AVX2__)
// The sums of a few permutations in single precision, one vector per class; a code is compared with every class.
#if defined(__AVX512BW__)
constexpr size_t kTogether = 16;
constexpr size_t kMostCompared = 12;
using Sums = __m512;
inline __m128i read_codes(const std::uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
inline Sums spread(float x) { return _mm512_set1_ps(x); }
inline Sums add_where(__m128i codes, int code, Sums sums, Sums x) {
  const __mmask16 own = _mm_cmpeq_epi8_mask(codes, _mm_set1_epi8(static_cast<char>(code)));
  return _mm512_mask_add_ps(sums, own, sums, x);
}
#else
constexpr size_t kTogether = 8;
constexpr size_t kMostCompared = 5;
using Sums = __m256;
inline __m256i read_codes(const std::uint8_t* from) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}
inline Sums spread(float x) { return _mm256_set1_ps(x); }
inline Sums add_where(__m256i codes, int code, Sums sums, Sums x) {
  const __m256i own = _mm256_cmpeq_epi32(codes, _mm256_set1_epi32(code));
  return _mm256_add_ps(sums, _mm256_and_ps(_mm256_castsi256_ps(own), x));
}
#endif

// Adds the entries to the sums of the classes 1, ..., Others, which stay in registers for a chunk of the entries.
template <class Value, size_t Others, size_t Registers>
void add_compared(size_t count, const Value* values, const std::int32_t* rows, const std::uint8_t* codes,
                  double* sums) {
  for (size_t first = 0; first < kClassStrip; first += kTogether * Registers) {
    for (size_t start = 0; start < count; start += ispca::kClassChunk) {
      const size_t stop = start + ispca::kClassChunk < count ? start + ispca::kClassChunk : count;
      Sums part[Others][Registers];
#pragma GCC unroll 16
      for (size_t c = 0; c < Others; ++c)
#pragma GCC unroll 4
        for (size_t g = 0; g < Registers; ++g) part[c][g] = spread(0.0F);
      for (size_t k = start; k < stop; ++k) {
        if (k + kAhead < count) fetch(codes + static_cast<size_t>(rows[k + kAhead]) * kClassStrip);
        const std::uint8_t* code = codes + static_cast<size_t>(rows[k]) * kClassStrip + first;
        const Sums x = spread(static_cast<float>(values[k]));
#pragma GCC unroll 4
        for (size_t g = 0; g < Registers; ++g) {
          const auto own = read_codes(code + g * kTogether);
#pragma GCC unroll 16
          for (size_t c = 0; c < Others; ++c) part[c][g] = add_where(own, static_cast<int>(c + 1), part[c][g], x);
        }
      }
      float found[Others][Registers * kTogether];
      static_assert(sizeof found == sizeof part, "the sums of a class lie next to each other");
      std::memcpy(found, part, sizeof found);
      for (size_t c = 0; c < Others; ++c)
        for (size_t l = 0; l < Registers * kTogether; ++l)
          sums[(c + 1) * kClassStrip + first + l] += static_cast<double>(found[c][l]);
    }
  }
}

// Chooses the function for the number of classes; false if there is none.
template <class Value, size_t Others = 1>
bool add_compared(size_t classes, size_t count, const Value* values, const std::int32_t* rows,
                  const std::uint8_t* codes, double* sums) {
  if constexpr (Others > kMostCompared) {
    return false;
  } else {
    if (classes != Others + 1) return add_compared<Value, Others + 1>(classes, count, values, rows, codes, sums);
    // With few classes, more permutations share the work on an entry.
    add_compared<Value, Others, Others <= 3 ? 4 : 1>(count, values, rows, codes, sums);
    return true;
  }
}
#endif

// sums (kMostClasses x kClassStrip) = sums of the entries by class, except that of class 0
template <class Value>
void class_sums(size_t count, const Value* values, const std::int32_t* rows, const std::uint8_t* codes, size_t classes,
                bool single, double* sums) {
  for (size_t l = 0; l < classes * kClassStrip; ++l) sums[l] = 0;
#if defined(__AVX2__)
  if (single && add_compared(classes, count, values, rows, codes, sums)) return;
#else
  (void)single;
#endif
  add_by_code(count, values, rows, codes, sums);
}

}  // namespace
