// Log likelihoods of counts and residuals from the linear predictors, in doubles: a count of a million multiplies the
// rounding of a float.
#pragma once
#include "kernels_math.hpp"

namespace {
using std::size_t;

constexpr double kLargestLogMean = 50;  // beyond it the mean grows linearly, so that no sum overflows in warm-up

// value = sum_i w_i (y_i f_i - exp(f_i)), residual_i = w_i (y_i - exp(f_i)).
template <class Real>
double poisson(size_t rows, const Real* count, const Real* weight, Real* predictor) {
  double value = 0;
#pragma omp simd reduction(+ : value)
  for (size_t i = 0; i < rows; ++i) {
    const double f = static_cast<double>(predictor[i]), y = static_cast<double>(count[i]);
    const double w = static_cast<double>(weight[i]), capped = f < kLargestLogMean ? f : kLargestLogMean;
    const double mean = fast_exp(capped);
    value += w * (y * f - mean * (1 + (f - capped)));
    predictor[i] = static_cast<Real>(w * (y - mean));
  }
  return value;
}

// With x = f - log phi: value = -sum_i w_i (y_i log(1 + exp(-x_i)) + phi log(1 + exp(x_i))), without the gamma
// functions; residual_i = w_i (y_i - (y_i + phi) s(x_i)), s(x) = 1 / (1 + exp(-x)).
template <class Real>
double negative_binomial(size_t rows, double log_phi, const Real* count, const Real* weight, Real* predictor,
                         double* slope) {
  const double phi = fast_exp(log_phi);
  double value = 0, by_log_phi = 0;
#pragma omp simd reduction(+ : value, by_log_phi)
  for (size_t i = 0; i < rows; ++i) {
    const double x = static_cast<double>(predictor[i]) - log_phi, y = static_cast<double>(count[i]);
    const double w = static_cast<double>(weight[i]);
    const SoftPlus above = soft_plus(x);
    value -= w * (y * (above.value - x) + phi * above.value);
    by_log_phi += w * (phi * (above.slope - above.value) - y * (1 - above.slope));
    predictor[i] = static_cast<Real>(w * (y - (y + phi) * above.slope));
  }
  *slope += by_log_phi;
  return value;
}

}  // namespace
