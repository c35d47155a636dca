// A vector register as a type, where the compiler has one; elsewhere a single number.
#pragma once
#include <cstddef>
#include <cstring>

namespace {

#if defined(__GNUC__) || defined(__clang__)
#if defined(__AVX512F__)
constexpr int kRegisterBytes = 64;
#elif defined(__AVX__)
constexpr int kRegisterBytes = 32;
#else
constexpr int kRegisterBytes = 16;
#endif
template <class Real>
struct Register;
template <>
struct Register<float> {
  using type __attribute__((vector_size(kRegisterBytes))) = float;
};
template <>
struct Register<double> {
  using type __attribute__((vector_size(kRegisterBytes))) = double;
};
template <class Real>
using Lanes = typename Register<Real>::type;
#else
template <class Real>
using Lanes = Real;
#endif

template <class Real>
constexpr std::size_t kLanes = sizeof(Lanes<Real>) / sizeof(Real);

template <class Real>
inline Lanes<Real> load(const Real* from) {
  Lanes<Real> lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <class Real>
inline void store_lanes(const Lanes<Real>& lanes, Real* to) {
  std::memcpy(to, &lanes, sizeof lanes);
}

}  // namespace
