// The log posterior of the non-centered parameters and its gradient.
#include "density.hpp"

#include <algorithm>
#include <cmath>

namespace ispca {

Density::Density(const Problem& problem)
    : problem_(problem), layout_(problem), likelihood_(problem.family->likelihood(problem)),
      prior_(problem.prior.kind->terms(problem)) {}

double Density::operator()(const double* q, double* gradient) {
  const double log_sigma = layout_.noise ? q[layout_.log_sigma()] : 0;
  double value = prior_->forward(q, log_sigma);
  Slopes slopes{gradient, prior_->slope()};
  value += likelihood_->value(q, prior_->beta(), log_sigma, slopes);
  const ScaleTerms scale = prior_->backward(q, gradient);

  const double intercept_precision = 1 / (problem_.prior.intercept_scale * problem_.prior.intercept_scale);
  for (std::size_t h = 0; h < layout_.outputs; ++h) {
    value -= 0.5 * intercept_precision * q[h] * q[h];
    gradient[h] -= intercept_precision * q[h];
  }
  value += scale.value;
  if (layout_.noise) gradient[layout_.log_sigma()] = slopes.log_sigma + scale.through_tau;  // tau moves with sigma
  return value;
}

void Density::start(Random& random, double spread, double* q) const {
  for (std::size_t i = 0; i < layout_.size(); ++i) q[i] = spread * (2 * random.uniform() - 1);
  if (!layout_.noise) return;
  q[layout_.log_sigma()] += std::log(problem_.y_scale);
  q[0] = problem_.y_center + q[0] * problem_.y_scale / std::sqrt(static_cast<double>(problem_.n));
}

void Density::write(const double* q, const DrawView& draw) const {
  const double log_sigma = layout_.noise ? q[layout_.log_sigma()] : 0;
  std::copy_n(q, layout_.outputs, draw.intercept);
  prior_->write(q, log_sigma, draw);
  if (draw.sigma != nullptr) *draw.sigma = std::exp(std::clamp(log_sigma, -230.0, 230.0));
}

}  // namespace ispca
