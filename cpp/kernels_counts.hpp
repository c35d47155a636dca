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

}  // namespace
