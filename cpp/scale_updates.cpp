// Slice updates of the scales given the coefficients: local scales, global scale, slab.
#include "scale_updates.hpp"

#include <algorithm>
#include <cmath>

#include "slice.hpp"

namespace ispca {
namespace {

double inverse_square(double eta) { return std::exp(-2 * std::clamp(eta, -100.0, 100.0)); }

}  // namespace

ScaleUpdates::ScaleUpdates(const Problem& problem)
    : problem_(problem), size_(problem.coefficients()), a_(size_), beta_squared_(size_), zero_(size_) {}

// With a = exp(-2 eta), u = 1/sigma^2 = 1/c2 + a / tau2:
// log p(eta | beta) = -log(2 cosh eta) - beta^2 u / 2 + log(u) / 2 = -eta - log(1 + a) + (log u - beta^2 u) / 2.
void ScaleUpdates::update_local(Random& random, CentredState& state) {
  const Scales scale = scales(problem_, state.t(), state.g(), state.noise());
  const double inverse_c2 = std::exp(-scale.log_c2), inverse_tau2 = std::exp(-2 * scale.log_tau);
  double *eta = state.eta(), *beta = state.beta();
  for (std::size_t j = 0; j < size_; ++j) {
    const double b2 = beta[j] * beta[j];
    const auto log_density = [=](double x) {
      if (!(std::fabs(x) <= 100)) return -1e300;
      const double a = std::exp(-2 * x), u = inverse_c2 + a * inverse_tau2, one_plus = 1 + a;
      return -x + 0.5 * std::log(u / (one_plus * one_plus)) - 0.5 * b2 * u;
    };
    eta[j] = slice(random, eta[j], log_density(eta[j]), 2.5, log_density);
    a_[j] = inverse_square(eta[j]);
    beta_squared_[j] = b2;
  }
}

// tau -> tau e^x, lambda_j -> lambda_j e^-x leaves every sigma_j as it is, so only the half-Cauchy priors of tau and
// lambda enter. Without this move tau could not go further than the local scales let it.
// Sum_j -log(2 cosh(eta_j - x)) = sum_j (x - eta_j - log(1 + a_j e^2x)), a_j = exp(-2 eta_j).
void ScaleUpdates::trade(Random& random, CentredState& state) {
  const double t = state.t(), count = static_cast<double>(size_);
  double* eta = state.eta();
  const auto log_density = [&](double x) {
    if (!(std::fabs(x) <= 50 && std::fabs(t + x) <= 100)) return -1e300;
    return half_cauchy(t + x) + count * x -
           2 * problem_.kernels->scale_terms(size_, 1.0, std::exp(2 * x), a_.data(), zero_.data());
  };
  const double x = slice(random, 0.0, log_density(0.0), 0.7, log_density);
  state.t() = t + x;
  for (std::size_t j = 0; j < size_; ++j) {
    eta[j] = std::clamp(eta[j] - x, -100.0, 100.0);
    a_[j] = inverse_square(eta[j]);
  }
}

double ScaleUpdates::global(double t, double g, double log_sigma) const {
  if (!(std::fabs(t) <= 100 && std::fabs(g) <= 200)) return -1e300;
  const Scales scale = scales(problem_, t, g, log_sigma);
  return half_cauchy(t) + slab_prior(problem_, g) +
         problem_.kernels->scale_terms(size_, std::exp(-scale.log_c2), std::exp(-2 * scale.log_tau), a_.data(),
                                       beta_squared_.data());
}

void ScaleUpdates::sweep(Random& random, CentredState& state) {
  update_local(random, state);
  trade(random, state);
  const double noise = state.noise();
  double g = state.g();
  const double t =
      slice(random, state.t(), global(state.t(), g, noise), 0.7, [&](double x) { return global(x, g, noise); });
  g = slice(random, g, global(t, g, noise), 1.4, [&](double x) { return global(t, x, noise); });
  state.t() = t;
  state.g() = g;
}

void ScaleUpdates::precisions(CentredState& state, double* out) const {
  const Scales scale = scales(problem_, state.t(), state.g(), state.noise());
  const double inverse_c2 = std::exp(-scale.log_c2), inverse_tau2 = std::exp(-2 * scale.log_tau);
  for (std::size_t j = 0; j < size_; ++j) out[j] = inverse_c2 + inverse_square(state.eta()[j]) * inverse_tau2;
}

std::vector<double> centred_start(const Problem& problem, Random& random) {
  const Layout layout(problem);
  std::vector<double> values(layout.size());
  for (double& value : values) value = 2 * random.uniform() - 1;
  for (std::size_t j = 0; j < layout.coefficients; ++j) values[layout.z() + j] *= 1e-2;
  if (layout.noise) values[layout.log_sigma()] += std::log(problem.y_scale);
  return values;
}

void write_centred(const Problem& problem, CentredState& state, const DrawView& draw) {
  const Scales scale = scales(problem, state.t(), state.g(), state.noise());
  std::copy_n(state.intercept(), state.layout.outputs, draw.intercept);
  std::copy_n(state.beta(), state.layout.coefficients, draw.coef);
  std::copy_n(state.eta(), state.layout.coefficients, draw.log_lambda);
  *draw.log_tau = scale.log_tau;
  *draw.log_c2 = scale.log_c2;
  if (draw.sigma != nullptr) *draw.sigma = std::exp(std::clamp(state.noise(), -230.0, 230.0));
}

}  // namespace ispca
