// The log posterior of the non-centred parameters and its gradient.
#include "density.hpp"

#include <algorithm>
#include <cmath>

namespace ispca {

// t in +-100 and g in +-200 cover all prior mass down to e^-100.
Scales scales(const Problem& problem, double t, double g, double log_sigma) {
  const double log_tau = problem.log_tau0 + std::clamp(t, -100.0, 100.0) + log_sigma;
  return {std::clamp(log_tau, -150.0, 150.0), problem.log_slab2 + std::clamp(g, -200.0, 200.0)};
}

double half_cauchy(double x) { return -std::fabs(x) - std::log1p(std::exp(-2 * std::fabs(x))); }

double slab_prior(const Problem& problem, double g) {
  return -0.5 * problem.prior.slab_df * (g + std::exp(std::min(-g, 300.0)));
}

Density::Density(const Problem& problem)
    : problem_(problem), layout_(problem), likelihood_(problem.family->likelihood(problem)),
      padded_(round_up(layout_.coefficients, kWideBlock)), work_(8 * padded_) {
  double* next = work_.data();
  for (double** array :
       {&arrays_.z, &arrays_.eta, &arrays_.sd, &arrays_.shrink, &arrays_.tanh, &arrays_.beta, &slope_, &slope_eta_}) {
    *array = next;
    next += padded_;
  }
}

void Density::load(const double* q) {
  std::copy_n(q + layout_.z(), layout_.coefficients, arrays_.z);
  std::copy_n(q + layout_.eta(), layout_.coefficients, arrays_.eta);
}

double Density::operator()(const double* q, double* gradient) {
  const std::size_t P = layout_.coefficients;
  const double t = q[layout_.t()], g = q[layout_.g()], log_sigma = layout_.noise ? q[layout_.log_sigma()] : 0;
  const Scales scale = scales(problem_, t, g, log_sigma);
  load(q);
  // the padding has z = eta = 0: it adds -log 2 each to the prior and nothing to any slope
  double value = problem_.kernels->prior_forward(padded_, std::exp(2 * scale.log_tau), std::exp(scale.log_c2), arrays_);
  value += static_cast<double>(padded_ - P) * 0.69314718055994530942;

  Slopes slopes{gradient, slope_};
  value += likelihood_->value(q, arrays_.beta, log_sigma, slopes);
  double sums[2];
  problem_.kernels->prior_backward(padded_, arrays_, slope_, slope_eta_, sums);
  std::copy_n(slope_, P, gradient + layout_.z());
  std::copy_n(slope_eta_, P, gradient + layout_.eta());

  const double intercept_precision = 1 / (problem_.prior.intercept_scale * problem_.prior.intercept_scale);
  for (std::size_t h = 0; h < layout_.outputs; ++h) {
    value -= 0.5 * intercept_precision * q[h] * q[h];
    gradient[h] -= intercept_precision * q[h];
  }
  const double e = std::exp(-2 * std::fabs(t)), inverse_g = std::exp(std::min(-g, 300.0));
  const double tanh_t = std::copysign((1 - e) / (1 + e), t), half_df = 0.5 * problem_.prior.slab_df;
  value += -std::fabs(t) - std::log1p(e) - half_df * (g + inverse_g);
  gradient[layout_.t()] = sums[0] - tanh_t;
  gradient[layout_.g()] = 0.5 * sums[1] - half_df * (1 - inverse_g);
  if (layout_.noise) gradient[layout_.log_sigma()] = slopes.log_sigma + sums[0];  // tau moves with sigma
  return value;
}

void Density::start(Random& random, double spread, double* q) const {
  for (std::size_t i = 0; i < layout_.size(); ++i) q[i] = spread * (2 * random.uniform() - 1);
  if (!layout_.noise) return;
  q[layout_.log_sigma()] += std::log(problem_.y_scale);
  q[0] = problem_.y_center + q[0] * problem_.y_scale / std::sqrt(static_cast<double>(problem_.n));
}

void Density::write(const double* q, const DrawView& draw) const {
  const std::size_t P = layout_.coefficients;
  const double log_sigma = layout_.noise ? q[layout_.log_sigma()] : 0;
  const Scales scale = scales(problem_, q[layout_.t()], q[layout_.g()], log_sigma);
  std::copy_n(q, layout_.outputs, draw.intercept);
  std::copy_n(q + layout_.eta(), P, draw.log_lambda);
  std::copy_n(q + layout_.z(), P, arrays_.z);
  std::copy_n(q + layout_.eta(), P, arrays_.eta);
  problem_.kernels->prior_forward(padded_, std::exp(2 * scale.log_tau), std::exp(scale.log_c2), arrays_);
  std::copy_n(arrays_.beta, P, draw.coef);
  *draw.log_tau = scale.log_tau;
  *draw.log_c2 = scale.log_c2;
  if (draw.sigma != nullptr) *draw.sigma = std::exp(std::clamp(log_sigma, -230.0, 230.0));
}

}  // namespace ispca
