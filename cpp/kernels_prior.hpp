// The regularized-horseshoe prior and its chain rule, one exp, one division and one sqrt per coefficient.
#pragma once
#include <cmath>

#include "kernels.hpp"
#include "kernels_math.hpp"

namespace {
using ispca::PriorArrays;
using std::size_t;

constexpr double kLargestEta = 100;  // exp(2 eta) tau^2 c^2 stays finite; the prior mass beyond is e^-100

// L = exp(2 eta); sigma^2 = c2 tau2 L / (c2 + tau2 L); w = c2 / (c2 + tau2 L); beta = z sigma.
double prior_forward(size_t size, double tau2, double c2, const PriorArrays& a) {
  const double *z = a.z, *eta = a.eta;
  double *sd = a.sd, *shrink = a.shrink, *tanh = a.tanh, *beta = a.beta, value = 0;
  for (size_t first = 0; first < size; first += kFactors) {
    const size_t last = first + kFactors < size ? first + kFactors : size;
    double sum = 0, product = 1, powers = 0;  // log prod_j (1 + L_j) = log(product) + powers log 2
#pragma omp simd reduction(+ : sum, powers) reduction(* : product)
    for (size_t j = first; j < last; ++j) {
      double e = eta[j] < -kLargestEta ? -kLargestEta : eta[j];
      e = e > kLargestEta ? kLargestEta : e;
      const double local = fast_exp(2 * e), one_plus = 1 + local, tau2_local = tau2 * local;
      const double inverse = 1 / ((c2 + tau2_local) * one_plus);  // one division serves both quotients
      const double w = c2 * (one_plus * inverse), s = std::sqrt(tau2_local * w);
      const double beyond = eta[j] - e;  // outside the clamp the half-Cauchy tail is exactly linear
      sd[j] = s;
      shrink[j] = w;
      tanh[j] = (local - 1) * ((c2 + tau2_local) * inverse);
      beta[j] = z[j] * s;
      product *= mantissa(one_plus);
      powers += exponent(one_plus);
      sum += e - (beyond < 0 ? -beyond : beyond) - 0.5 * z[j] * z[j];
    }
    value += sum - std::log(product) - powers * kLn2;
  }
  return value;
}

// dl/dz = G sigma - z; dl/deta = G beta w - tanh(eta); the sums go to tau and c2.
void prior_backward(size_t size, const PriorArrays& a, double* slope, double* slope_eta, double* sums) {
  const double *z = a.z, *sd = a.sd, *shrink = a.shrink, *tanh = a.tanh, *beta = a.beta;
  double through_tau = 0, through_c = 0;
#pragma omp simd reduction(+ : through_tau, through_c)
  for (size_t j = 0; j < size; ++j) {
    const double along_scale = slope[j] * beta[j], along_tau = along_scale * shrink[j];
    slope[j] = slope[j] * sd[j] - z[j];
    slope_eta[j] = along_tau - tanh[j];
    through_tau += along_tau;
    through_c += along_scale - along_tau;
  }
  sums[0] = through_tau;
  sums[1] = through_c;
}

// Sum_j (log u_j - beta_j^2 u_j) / 2, u_j = 1 / sigma_j^2 = 1/c2 + a_j / tau2, a_j = exp(-2 eta_j).
double scale_terms(size_t size, double inverse_c2, double inverse_tau2, const double* a, const double* beta_squared) {
  double value = 0;
  for (size_t first = 0; first < size; first += kFactors) {
    const size_t last = first + kFactors < size ? first + kFactors : size;
    double quadratic = 0, product = 1, powers = 0;
#pragma omp simd reduction(+ : quadratic, powers) reduction(* : product)
    for (size_t j = first; j < last; ++j) {
      const double u = inverse_c2 + a[j] * inverse_tau2;
      product *= mantissa(u);
      powers += exponent(u);
      quadratic += beta_squared[j] * u;
    }
    value += std::log(product) + powers * kLn2 - quadratic;
  }
  return 0.5 * value;
}

}  // namespace
