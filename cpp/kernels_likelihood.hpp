// Logistic, softmax and ordinal log likelihoods and residuals from the linear predictors.
#pragma once
#include <cmath>

#include "kernels_math.hpp"

namespace {
using std::size_t;

// With the margin m = (2 y - 1) f: log p(y) = min(m, 0) - log(1 + exp(-|m|)), and
// d log p / d f = (2 y - 1) / (1 + exp(m)). The logs are taken of products of 512 factors in [1, 2].
// Padded rows have sign 0, so margin 0, residual 0 and a factor 2 that is taken out here.
template <class Real>
double logistic(size_t rows, size_t padding, const Real* sign, Real* predictor) {
  double value = static_cast<double>(padding) * kLn2;
  for (size_t first = 0; first < rows; first += kFactors) {
    const size_t last = first + kFactors < rows ? first + kFactors : rows;
    double product = 1, linear = 0;
#pragma omp simd reduction(* : product) reduction(+ : linear)
    for (size_t i = first; i < last; ++i) {
      const Real s = sign[i], m = s * predictor[i];
      const Real e = fast_exp(m < 0 ? m : -m), one_plus = 1 + e;
      product *= static_cast<double>(one_plus);
      linear += static_cast<double>(m < 0 ? m : Real(0));
      predictor[i] = s * (m > 0 ? e : Real(1)) / one_plus;
    }
    value += linear - std::log(product);
  }
  return value;
}

// The same with a weight for every row: a product no longer serves, so each row has its logarithm.
template <class Real>
double weighted_logistic(size_t rows, const Real* sign, const Real* weight, Real* predictor) {
  double value = 0;
#pragma omp simd reduction(+ : value)
  for (size_t i = 0; i < rows; ++i) {
    const double s = static_cast<double>(sign[i]), w = static_cast<double>(weight[i]);
    const SoftPlus loss = soft_plus(-s * static_cast<double>(predictor[i]));
    value -= w * loss.value;
    predictor[i] = static_cast<Real>(w * s * loss.slope);
  }
  return value;
}

// Returns sum_i weight_i log(sum_i), and replaces sum_i by weight_i / sum_i.
template <class Real>
double weighted_logs(size_t rows, const Real* weight, Real* sum) {
  double value = 0;
#pragma omp simd reduction(+ : value)
  for (size_t i = 0; i < rows; ++i) {
    value += static_cast<double>(weight[i]) * fast_log(static_cast<double>(sum[i]));
    sum[i] = weight[i] / sum[i];
  }
  return value;
}

// The same for weights that are 0 or 1.
template <class Real>
double counted_logs(size_t rows, const Real* weight, Real* sum) {
  double value = 0;
  for (size_t first = 0; first < rows; first += kFactors) {
    const size_t last = first + kFactors < rows ? first + kFactors : rows;
    double product = 1, powers = 0;
#pragma omp simd reduction(* : product) reduction(+ : powers)
    for (size_t i = first; i < last; ++i) {
      const double counted = static_cast<double>(weight[i] * sum[i] + (1 - weight[i]));
      product *= mantissa(counted);
      powers += exponent(counted);
      sum[i] = weight[i] / sum[i];
    }
    value += std::log(product) + powers * kLn2;
  }
  return value;
}

// value = -sum_i w_i (log(1 + exp(-a_i)) + log(1 + exp(b_i))), with a = upper - f and b = lower - f; the residual is
// its slope, with respect to f, and the thresholds of every row are replaced by the slopes with respect to them.
template <class Real>
double ordinal(size_t rows, const Real* weight, double* lower, double* upper, Real* predictor) {
  double value = 0;
#pragma omp simd reduction(+ : value)
  for (size_t i = 0; i < rows; ++i) {
    const double f = static_cast<double>(predictor[i]), w = static_cast<double>(weight[i]);
    const SoftPlus above = soft_plus(f - upper[i]), below = soft_plus(lower[i] - f);
    value -= w * (above.value + below.value);
    upper[i] = w * above.slope;
    lower[i] = -w * below.slope;
    predictor[i] = static_cast<Real>(w * (below.slope - above.slope));
  }
  return value;
}

// value = sum_i [f_{y_i} - m_i - log S_i], m_i = max_h f_h, S_i = sum_h exp(f_h - m_i);
// residual_h = [y = h] - exp(f_h - m) / S, all of them times the weights. The workspace holds m and S.
template <class Real>
double softmax(size_t rows, size_t classes, bool weighted, const Real* indicator, const Real* weight, Real* predictors,
               Real* workspace) {
  Real *largest = workspace, *sum = workspace + rows;
  double value = 0;
#pragma omp simd
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
      const Real d = f[i] - largest[i], e = fast_exp(d);
      value += static_cast<double>(y[i] * d);
      sum[i] += e;
      f[i] = e;
    }
  }
  value -= weighted ? weighted_logs(rows, weight, sum) : counted_logs(rows, weight, sum);
  for (size_t h = 0; h < classes; ++h) {
    Real* f = predictors + h * rows;
    const Real* y = indicator + h * rows;
#pragma omp simd
    for (size_t i = 0; i < rows; ++i) f[i] = y[i] - f[i] * sum[i];
  }
  return value;
}

}  // namespace
