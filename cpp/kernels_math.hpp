// Branch-free exp and log for doubles, short enough for the compiler to vectorise.
#pragma once
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

// log(x) = k log 2 + log(m), m in [sqrt(1/2), sqrt(2)), log(m) = 2 artanh(s), s = (m - 1) / (m + 1).
// For positive normal x only.
inline double fast_log(double x) {
  constexpr std::uint64_t kOne = 0x3ff0000000000000ULL, kRootHalf = 0x3fe6a09e667f3bcdULL;
  const std::uint64_t moved = to_bits(x) + (kOne - kRootHalf);
  const double m = from_bits((moved & 0x000fffffffffffffULL) + kRootHalf);
  // the biased exponent put into the mantissa of 2^52 becomes a double without an integer conversion
  const double k = from_bits((moved >> 52) | 0x4330000000000000ULL) - (0x1p52 + 1023.0);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 21;
  p = p * z + 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return k * kLn2High + (2.0 * s + (2.0 * s * z * p + k * kLn2Low));
}

}  // namespace
