// The ridge prior: every coefficient is normal with the same standard deviation tau, which is half-Cauchy.
#include <algorithm>
#include <cmath>

#include "prior.hpp"

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

class Ridge final : public CoefficientPrior {
 public:
  Ridge() : CoefficientPrior("ridge", false) {}

  std::unique_ptr<PriorTerms> terms(const Problem& problem) const override {
    return std::make_unique<RidgeTerms>(problem);
  }
};

}  // namespace

const CoefficientPrior& ridge_prior() {
  static const Ridge prior;
  return prior;
}

}  // namespace ispca
