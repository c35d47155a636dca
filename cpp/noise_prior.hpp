// The prior of the noise standard deviation, on the log scale.
#pragma once
#include <algorithm>
#include <cmath>

#include "problem.hpp"

namespace ispca {

struct NoisePrior {
  double value, slope;
};

inline double noise_precision(double log_sigma) { return std::exp(-2 * std::clamp(log_sigma, -230.0, 230.0)); }

// sigma_scale = 0: p(sigma) = 1 / sigma, flat on log sigma. Otherwise a half-Student-t with 3 degrees of
// freedom: log p(log sigma) = log sigma - 2 log(1 + sigma^2 / (3 scale^2)).
// y that X explains exactly has no proper posterior (sigma runs to 0), so a steep quadratic wall stands at a
// millionth of the spread of y, far below what a Gram matrix in doubles can resolve anyway.
inline NoisePrior noise_prior(const Problem& problem, double log_sigma) {
  const double below = std::max(std::log(problem.gaussian.sigma_floor) - log_sigma, 0.0);
  NoisePrior prior = {-50 * below * below, 100 * below};
  const double scale = problem.prior.sigma_scale;
  if (scale > 0) {
    const double ratio = std::exp(2 * std::clamp(log_sigma - std::log(scale), -300.0, 300.0)) / 3;
    prior.value += log_sigma - 2 * std::log1p(ratio);
    prior.slope += 1 - 4 * ratio / (1 + ratio);
  }
  return prior;
}

}  // namespace ispca
