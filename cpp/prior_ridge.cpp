// The ridge prior: every coefficient is normal with the same standard deviation tau, which is half-Cauchy.
#include <algorithm>
#include <cmath>

#include "prior.hpp"
#include "scale_updates.hpp"
#include "slice.hpp"

namespace ispca {
namespace {

// beta_j = tau z_j with z_j ~ N(0, 1) and tau ~ half-Cauchy(0, tau0) (families with noise: tau0 sigma), t = log(tau /
// tau0):
//   log p(z, t) = -sum_j z_j^2 / 2 - log(2 cosh t),   dl/dz = G tau - z,   dl/dt = G beta - tanh(t),   G = dl/dbeta.
class RidgeTerms final : public PriorTerms {
 public:
  explicit RidgeTerms(const Problem& problem)
      : problem_(problem), layout_(problem), beta_(layout_.coefficients), slope_(layout_.coefficients) {}

  double forward(const double* q, double log_sigma) override {
    const double* z = q + layout_.z();
    tau_ = std::exp(log_global_scale(problem_, q[layout_.t()], log_sigma));
    for (std::size_t j = 0; j < layout_.coefficients; ++j) beta_[j] = tau_ * z[j];
    return -0.5 * dot(z, z);
  }

  const double* beta() const override { return beta_.data(); }
  double* slope() override { return slope_.data(); }

  ScaleTerms backward(const double* q, double* gradient) override {
    const double t = q[layout_.t()], through_tau = dot(slope_.data(), beta_.data());
    for (std::size_t j = 0; j < layout_.coefficients; ++j)
      gradient[layout_.z() + j] = tau_ * slope_[j] - q[layout_.z() + j];
    gradient[layout_.t()] = through_tau - std::tanh(t);
    return {half_cauchy(t), through_tau};
  }

  void write(const double* q, double log_sigma, const DrawView& draw) override {
    forward(q, log_sigma);
    std::copy_n(beta_.data(), layout_.coefficients, draw.coef);
    *draw.log_tau = log_global_scale(problem_, q[layout_.t()], log_sigma);
  }

 private:
  double dot(const double* x, const double* y) const { return problem_.kernels->lasso.dot(layout_.coefficients, x, y); }

  const Problem& problem_;
  Layout layout_;
  Buffer<double> beta_, slope_;
  double tau_ = 1;
};

// log p(t | beta) = -log(2 cosh t) - P log tau - sum_j beta_j^2 / (2 tau^2).
class RidgeUpdates final : public ScaleUpdates {
 public:
  explicit RidgeUpdates(const Problem& problem)
      : problem_(problem), penalized_(problem.penalized), size_(penalized_.size()), beta_(size_) {}

  void sweep(Random& random, CentredState& state) override {
    for (std::size_t j = 0; j < size_; ++j) beta_[j] = state.beta()[penalized_[j]];
    const double noise = state.noise(), squares = problem_.kernels->lasso.dot(size_, beta_.data(), beta_.data());
    const auto log_density = [&](double t) {
      if (!(std::fabs(t) <= 100)) return -1e300;
      const double log_tau = log_global_scale(problem_, t, noise);
      return half_cauchy(t) - static_cast<double>(size_) * log_tau - 0.5 * squares * std::exp(-2 * log_tau);
    };
    state.t() = slice(random, state.t(), log_density(state.t()), 0.7, log_density);
  }

  void precisions(CentredState& state, double* out) const override {
    const double precision = std::exp(-2 * log_global_scale(problem_, state.t(), state.noise()));
    for (std::size_t j : penalized_) out[j] = precision;
    fixed_precisions(problem_, out);
  }

  double scaled(CentredState& state, double log_a) const override {
    const double t = state.t() + log_a;
    return std::fabs(t) <= 100 ? half_cauchy(t) : -1e300;
  }

  void scale(CentredState& state, double log_a) const override {
    const double a = std::exp(log_a);
    state.t() += log_a;
    for (std::size_t j : penalized_) state.beta()[j] *= a;
  }

 private:
  const Problem& problem_;
  const std::vector<std::size_t>& penalized_;
  const std::size_t size_;
  Buffer<double> beta_;
};

class Ridge final : public CoefficientPrior {
 public:
  Ridge() : CoefficientPrior("ridge", false) {}

  std::unique_ptr<PriorTerms> terms(const Problem& problem) const override {
    return std::make_unique<RidgeTerms>(problem);
  }
  std::unique_ptr<ScaleUpdates> updates(const Problem& problem) const override {
    return std::make_unique<RidgeUpdates>(problem);
  }
};

}  // namespace

const CoefficientPrior& ridge_prior() {
  static const Ridge prior;
  return prior;
}

}  // namespace ispca
