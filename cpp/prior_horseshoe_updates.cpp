// Slice updates of the horseshoe's scales given the coefficients: local scales, global scale, slab.
#include <algorithm>
#include <cmath>

#include "prior_horseshoe.hpp"
#include "scale_updates.hpp"
#include "slice.hpp"

namespace ispca {
namespace {

double inverse_square(double eta) { return std::exp(-2 * std::clamp(eta, -100.0, 100.0)); }

class HorseshoeUpdates final : public ScaleUpdates {
 public:
  explicit HorseshoeUpdates(const Problem& problem)
      : problem_(problem), penalized_(problem.penalized), size_(penalized_.size()), a_(size_), beta_squared_(size_),
        zero_(size_) {}

  // Updates every eta_j, then t against all eta_j, then t and g.
  void sweep(Random& random, CentredState& state) override;
  void precisions(CentredState& state, double* out) const override;

  double scaled(CentredState& state, double log_a) const override {
    const double t = state.t(), g = state.g();
    if (!(std::fabs(t + log_a) <= 100 && std::fabs(g + 2 * log_a) <= 200)) return -1e300;
    return half_cauchy(t + log_a) + slab_prior(problem_, g + 2 * log_a);
  }

  void scale(CentredState& state, double log_a) const override {
    const double a = std::exp(log_a);
    state.t() += log_a;
    state.g() += 2 * log_a;
    for (std::size_t j : penalized_) state.beta()[j] *= a;
  }

 private:
  void update_local(Random& random, CentredState& state);
  void trade(Random& random, CentredState& state);
  double global(double t, double g, double log_sigma) const;

  const Problem& problem_;
  const std::vector<std::size_t>& penalized_;  // eta_j is the local scale of this coefficient
  const std::size_t size_;
  Buffer<double> a_, beta_squared_, zero_;  // exp(-2 eta_j), beta_j^2, 0
};

// With a = exp(-2 eta), u = 1/sigma^2 = 1/c2 + a / tau2:
// log p(eta | beta) = -log(2 cosh eta) - beta^2 u / 2 + log(u) / 2 = -eta - log(1 + a) + (log u - beta^2 u) / 2.
void HorseshoeUpdates::update_local(Random& random, CentredState& state) {
  const Scales scale = scales(problem_, state.t(), state.g(), state.noise());
  const double inverse_c2 = std::exp(-scale.log_c2), inverse_tau2 = std::exp(-2 * scale.log_tau);
  double *eta = state.eta(), *beta = state.beta();
  for (std::size_t j = 0; j < size_; ++j) {
    const double b = beta[penalized_[j]], b2 = b * b;
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
void HorseshoeUpdates::trade(Random& random, CentredState& state) {
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

double HorseshoeUpdates::global(double t, double g, double log_sigma) const {
  if (!(std::fabs(t) <= 100 && std::fabs(g) <= 200)) return -1e300;
  const Scales scale = scales(problem_, t, g, log_sigma);
  return half_cauchy(t) + slab_prior(problem_, g) +
         problem_.kernels->scale_terms(size_, std::exp(-scale.log_c2), std::exp(-2 * scale.log_tau), a_.data(),
                                       beta_squared_.data());
}

void HorseshoeUpdates::sweep(Random& random, CentredState& state) {
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

void HorseshoeUpdates::precisions(CentredState& state, double* out) const {
  const Scales scale = scales(problem_, state.t(), state.g(), state.noise());
  const double inverse_c2 = std::exp(-scale.log_c2), inverse_tau2 = std::exp(-2 * scale.log_tau);
  for (std::size_t j = 0; j < size_; ++j)
    out[penalized_[j]] = inverse_c2 + inverse_square(state.eta()[j]) * inverse_tau2;
  fixed_precisions(problem_, out);
}

}  // namespace

std::unique_ptr<ScaleUpdates> make_horseshoe_updates(const Problem& problem) {
  return std::make_unique<HorseshoeUpdates>(problem);
}

}  // namespace ispca
