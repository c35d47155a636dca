// Univariate slice sampling with stepping out (Neal 2003); every loop is capped.
#pragma once
#include "random.hpp"

namespace ispca {

// One update of x with the given log density, which is `value` at x. The cap on stepping out is split at random
// between the two sides, which keeps the update exact (Neal's m); if shrinking has not ended after 100 rounds
// the interval is x itself to rounding, so x stays.
template <class LogDensity>
double slice(Random& random, double x, double value, double width, const LogDensity& log_density) {
  constexpr int kSteps = 40, kShrinks = 100;
  const double level = value - random.exponential();
  double left = x - width * random.uniform(), right = left + width;
  int to_left = static_cast<int>(kSteps * random.uniform()), to_right = kSteps - 1 - to_left;
  while (to_left-- > 0 && log_density(left) > level) left -= width;
  while (to_right-- > 0 && log_density(right) > level) right += width;
  for (int round = 0; round < kShrinks; ++round) {
    const double candidate = left + (right - left) * random.uniform();
    if (log_density(candidate) > level) return candidate;
    (candidate < x ? left : right) = candidate;
  }
  return x;
}

}  // namespace ispca
