// Logistic and softmax log likelihoods and residuals from the linear predictors.
#pragma once
#include <cmath>

#include "kernels_math.hpp"

namespace {
using std::size_t;

// With the margin m = (2 y - 1) f: log p(y) = min(m, 0) - log(1 + exp(-|m|)), and
// d log p / d f = (2 y - 1) / (1 + exp(m)). The logs are taken of products of 512 factors in [1, 2].
// Padded rows have sign 0, so margin 0, residual 0 and a factor 2 that is taken out here.
template <class Real>
double logistic(size_t rows, const Real* sign, Real* predictor) {
  constexpr size_t kProduct = 512;
  double value = 0;
  for (size_t first = 0; first < rows; first += kProduct) {
    const size_t last = first + kProduct < rows ? first + kProduct : rows;
    double product = 1, linear = 0, padding = 0;
#pragma omp simd reduction(* : product) reduction(+ : linear, padding)
    for (size_t i = first; i < last; ++i) {
      const double s = sign[i], m = s * static_cast<double>(predictor[i]);
      const double size = m < 0 ? -m : m;
      const double e = fast_exp(-size);
      const double one_plus = 1 + e;
      product *= one_plus;
      linear += m < 0 ? m : 0.0;
      padding += 1 - s * s;
      predictor[i] = static_cast<Real>(s * (m > 0 ? e : 1.0) / one_plus);
    }
    value += linear - std::log(product) + padding * 0.69314718055994530942;
  }
  return value;
}

// value = sum_i [f_{y_i} - m_i - log S_i], m_i = max_h f_h, S_i = sum_h exp(f_h - m_i);
// residual_h = [y = h] - exp(f_h - m) / S. The workspace holds m and S.
template <class Real>
double softmax(size_t rows, size_t classes, const Real* indicator, const Real* weight, Real* predictors,
               double* workspace) {
  double *largest = workspace, *sum = workspace + rows, value = 0;
  for (size_t i = 0; i < rows; ++i) largest[i] = predictors[i], sum[i] = 0;
  for (size_t h = 1; h < classes; ++h) {
    const Real* f = predictors + h * rows;
#pragma omp simd
    for (size_t i = 0; i < rows; ++i) largest[i] = f[i] > largest[i] ? f[i] : largest[i];
  }
  for (size_t h = 0; h < classes; ++h) {
    Real* f = predictors + h * rows;
    const Real* y = indicator + h * rows;
#pragma omp simd reduction(+ : value)
    for (size_t i = 0; i < rows; ++i) {
      const double d = f[i] - largest[i], e = fast_exp(d);
      value += y[i] * d;
      sum[i] += e;
      f[i] = static_cast<Real>(e);
    }
  }
#pragma omp simd reduction(+ : value)
  for (size_t i = 0; i < rows; ++i) {
    value -= weight[i] * fast_log(sum[i]);
    sum[i] = weight[i] / sum[i];
  }
  for (size_t h = 0; h < classes; ++h) {
    Real* f = predictors + h * rows;
    const Real* y = indicator + h * rows;
#pragma omp simd
    for (size_t i = 0; i < rows; ++i) f[i] = static_cast<Real>(y[i] - f[i] * sum[i]);
  }
  return value;
}

}  // namespace
