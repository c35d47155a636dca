// The log posterior of the non-centered parameters and its gradient.
#include "density.hpp"

#include <algorithm>
#include <cmath>

namespace ispca {

Density::Density(const Problem& problem)
    : problem_(problem), layout_(problem), likelihood_(problem.family->likelihood(problem)),
      prior_(problem.prior.kind->terms(problem)), beta_(layout_.fixed ? problem.coefficients() : 0),
      slope_(beta_.size()) {}

double Density::operator()(const double* q, double* gradient) {
  double value = prior_->forward(q, log_sigma(q));
  if (layout_.fixed) join_coefficients(q);
  const double* beta = layout_.fixed ? beta_.data() : prior_->beta();
  const Slopes slopes{gradient, layout_.fixed ? slope_.data() : prior_->slope(), gradient + layout_.extra()};
  value += likelihood_->value(q, beta, q + layout_.extra(), slopes);
  if (layout_.fixed) value += split_slopes(q, gradient);
  const ScaleTerms scale = prior_->backward(q, gradient);

  const double intercept_precision = 1 / (problem_.prior.intercept_scale * problem_.prior.intercept_scale);
  for (std::size_t h = 0; h < layout_.intercepts; ++h) {
    value -= 0.5 * intercept_precision * q[h] * q[h];
    gradient[h] -= intercept_precision * q[h];
  }
  value += scale.value;
  if (problem_.family->noise) gradient[layout_.extra()] += scale.through_tau;  // tau moves with sigma
  return value;
}

// beta_ of the coefficients under the prior, which forward has filled, and of the fixed ones.
void Density::join_coefficients(const double* q) {
  for (std::size_t j = 0; j < layout_.coefficients; ++j) beta_[problem_.penalized[j]] = prior_->beta()[j];
  for (std::size_t j = 0; j < layout_.fixed; ++j)
    beta_[problem_.fixed[j]] = problem_.fixed_scale[j] * q[layout_.u() + j];
}

// Hands the slopes of the coefficients under the prior on to it; returns the log density of u.
double Density::split_slopes(const double* q, double* gradient) {
  const double* u = q + layout_.u();
  double value = 0;
  for (std::size_t j = 0; j < layout_.coefficients; ++j) prior_->slope()[j] = slope_[problem_.penalized[j]];
  for (std::size_t j = 0; j < layout_.fixed; ++j) {
    gradient[layout_.u() + j] = problem_.fixed_scale[j] * slope_[problem_.fixed[j]] - u[j];
    value -= 0.5 * u[j] * u[j];
  }
  return value;
}

// Fixed coefficients start well inside their prior, which is wide, as the intercepts do.
void Density::start(Random& random, double spread, double* q) const {
  for (std::size_t i = 0; i < layout_.size(); ++i) q[i] = spread * (2 * random.uniform() - 1);
  for (std::size_t j = 0; j < layout_.fixed; ++j) q[layout_.u() + j] *= 0.1;
  if (problem_.family->noise) {
    q[layout_.extra()] += std::log(problem_.y_scale);
    q[0] = problem_.y_center + q[0] * problem_.y_scale / std::sqrt(static_cast<double>(problem_.n));
    return;
  }
  for (std::size_t h = 0; h < layout_.intercepts; ++h) q[h] += problem_.y_center;
  for (std::size_t i = 0; i < layout_.extras; ++i) q[layout_.extra() + i] += problem_.extra_start[i];
}

void Density::write(const double* q, const DrawView& draw) {
  std::copy_n(q, layout_.intercepts, draw.intercept);
  prior_->write(q, log_sigma(q), draw);
  if (layout_.fixed) {
    join_coefficients(q);
    std::copy_n(beta_.data(), beta_.size(), draw.coef);
    if (draw.log_lambda) spread_local(problem_, draw.log_lambda);
  }
  if (draw.extra) problem_.family->write_extras(problem_, q + layout_.extra(), draw.extra);
}

}  // namespace ispca
