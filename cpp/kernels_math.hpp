// Branch-free exp, and logs of products, short enough for the compiler to vectorise.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

// Everything a kernel file needs must have internal linkage: the same source is compiled once per
// instruction set, and a shared inline function could be taken from the wrong copy by the linker.
namespace {

inline std::uint64_t to_bits(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline double from_bits(std::uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr double kLog2E = 1.4426950408889634074;
constexpr double kLn2High = 6.93145751953125e-1;  // few bits, so k * kLn2High is exact
constexpr double kLn2Low = 1.42860682030941723212e-6;

// exp(x) = 2^k exp(r), k = round(x / log 2), |r| <= log(2) / 2, Taylor series of degree 12 for exp(r).
// Relative error about 2e-16. The argument is clamped, so the result is never 0 or infinite.
inline double fast_exp(double x) {
  x = x < -708.0 ? -708.0 : x;
  x = x > 709.0 ? 709.0 : x;
  constexpr double kRound = 0x1.8p52;  // adding it leaves round(x / log 2) in the low mantissa bits
  const double shifted = x * kLog2E + kRound;
  const double k = shifted - kRound;
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double p = 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return p * from_bits((to_bits(shifted) + 1023) << 52);
}

// The same for float, degree 7 (relative error about 1e-7).
inline float fast_exp(float x) {
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  constexpr float kRound = 0x1.8p23f;
  const float shifted = x * 1.44269504f + kRound;
  const float k = shifted - kRound;
  const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  std::uint32_t bits;
  std::memcpy(&bits, &shifted, sizeof bits);
  bits = (bits + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

// x = 2^k m with 1 <= m < 2, for positive normal x: a sum of logs is log 2 times the sum of k plus the log of the
// product of m, which spares a logarithm per term.
inline double mantissa(double x) { return from_bits((to_bits(x) & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL); }

inline double exponent(double x) {
  // the biased exponent put into the mantissa of 2^52 becomes a double without an integer conversion
  return from_bits((to_bits(x) >> 52) | 0x4330000000000000ULL) - (0x1p52 + 1023.0);
}

constexpr double kLn2 = 0.69314718055994530942;

// log x for positive normal x: with x = 2^k m, sqrt(1/2) <= m < sqrt(2), and s = (m - 1) / (m + 1), |s| < 0.172,
// log m = 2 (s + s^3 / 3 + s^5 / 5 + ...). Absolute error about 2e-16.
inline double fast_log(double x) {
  const double large = mantissa(x) > 1.4142135623730951 ? 1.0 : 0.0;
  const double m = mantissa(x) * (1 - 0.5 * large), s = (m - 1) / (m + 1), s2 = s * s;
  double p = 1.0 / 21;
  p = p * s2 + 1.0 / 19;
  p = p * s2 + 1.0 / 17;
  p = p * s2 + 1.0 / 15;
  p = p * s2 + 1.0 / 13;
  p = p * s2 + 1.0 / 11;
  p = p * s2 + 1.0 / 9;
  p = p * s2 + 1.0 / 7;
  p = p * s2 + 1.0 / 5;
  p = p * s2 + 1.0 / 3;
  p = p * s2 + 1.0;
  return (exponent(x) + large) * kLn2 + 2 * s * p;
}

// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), with small relative error, and its slope 1 / (1 + exp(-x)).
struct SoftPlus {
  double value, slope;
};
inline SoftPlus soft_plus(double x) {
  const double e = fast_exp(x < 0 ? x : -x), one_plus = 1 + e;
  const double lost = e - (one_plus - 1);  // what rounding took from e
  return {(x > 0 ? x : 0.0) + fast_log(one_plus) + lost / one_plus, (x > 0 ? 1.0 : e) / one_plus};
}

constexpr std::size_t kFactors = 512;  // a product of so many factors in [1, 2] is below 2^512

}  // namespace
