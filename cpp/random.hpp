// Random numbers: xoshiro256++ (Blackman and Vigna) with one independent stream per chain.
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace ispca {

class Random {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Random(const State& state) : state_(state) {}

  // The stream depends on seed and chain only, so draws do not depend on the number of threads.
  Random(std::uint64_t seed, std::uint64_t chain) {
    std::uint64_t counter = mix(seed + 0x9e3779b97f4a7c15ULL) ^ mix(~chain);
    for (auto& word : state_) word = mix(counter += 0x9e3779b97f4a7c15ULL);
  }

  const State& state() const { return state_; }

  std::uint64_t bits() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // In [0, 1), 53 bits.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  double exponential() { return -std::log1p(-uniform()); }

  // Standard normals in pairs (Marsaglia's polar method); a spare one is dropped so that the four words
  // above are the whole state.
  void normals(std::size_t size, double* out) {
    for (std::size_t i = 0; i < size; i += 2) {
      double u = 0, v = 0, s = 0;
      do {
        u = 2 * uniform() - 1;
        v = 2 * uniform() - 1;
        s = u * u + v * v;
      } while (s >= 1 || s == 0);  // ends with probability one, on average after 1.27 rounds
      const double factor = std::sqrt(-2 * std::log(s) / s);
      out[i] = u * factor;
      if (i + 1 < size) out[i + 1] = v * factor;
    }
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static std::uint64_t mix(std::uint64_t x) {  // splitmix64
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  State state_{};
};

}  // namespace ispca
