// The regularized horseshoe: normal coefficients with a global scale, local scales and a slab (kernels_prior.hpp).
#include "prior_horseshoe.hpp"

#include <algorithm>
#include <cmath>

#include "scale_updates.hpp"

namespace ispca {

// g in +-200 covers all prior mass down to e^-100.
Scales scales(const Problem& problem, double t, double g, double log_sigma) {
  return {log_global_scale(problem, t, log_sigma), problem.log_slab2 + std::clamp(g, -200.0, 200.0)};
}

double slab_prior(const Problem& problem, double g) {
  return -0.5 * problem.prior.slab_df * (g + std::exp(std::min(-g, 300.0)));
}

namespace {

class HorseshoeTerms final : public PriorTerms {
 public:
  explicit HorseshoeTerms(const Problem& problem)
      : problem_(problem), layout_(problem), padded_(round_up(layout_.coefficients, kWideBlock)), work_(8 * padded_) {
    double* next = work_.data();
    for (double** array :
         {&arrays_.z, &arrays_.eta, &arrays_.sd, &arrays_.shrink, &arrays_.tanh, &arrays_.beta, &slope_, &slope_eta_}) {
      *array = next;
      next += padded_;
    }
  }

  double forward(const double* q, double log_sigma) override {
    const std::size_t P = layout_.coefficients;
    const Scales scale = scales(problem_, q[layout_.t()], q[layout_.g()], log_sigma);
    std::copy_n(q + layout_.z(), P, arrays_.z);
    std::copy_n(q + layout_.eta(), P, arrays_.eta);
    // the padding has z = eta = 0: it adds -log 2 each to the prior and nothing to any slope
    const double tau2 = std::exp(2 * scale.log_tau), c2 = std::exp(scale.log_c2);
    double value = problem_.kernels->prior_forward(padded_, tau2, c2, arrays_);
    value += static_cast<double>(padded_ - P) * 0.69314718055994530942;
    return value;
  }

  const double* beta() const override { return arrays_.beta; }
  double* slope() override { return slope_; }

  ScaleTerms backward(const double* q, double* gradient) override {
    const double t = q[layout_.t()], g = q[layout_.g()];
    double sums[2];
    problem_.kernels->prior_backward(padded_, arrays_, slope_, slope_eta_, sums);
    std::copy_n(slope_, layout_.coefficients, gradient + layout_.z());
    std::copy_n(slope_eta_, layout_.coefficients, gradient + layout_.eta());
    const double e = std::exp(-2 * std::fabs(t)), inverse_g = std::exp(std::min(-g, 300.0));
    const double tanh_t = std::copysign((1 - e) / (1 + e), t), half_df = 0.5 * problem_.prior.slab_df;
    gradient[layout_.t()] = sums[0] - tanh_t;
    gradient[layout_.g()] = 0.5 * sums[1] - half_df * (1 - inverse_g);
    return {-std::fabs(t) - std::log1p(e) - half_df * (g + inverse_g), sums[0]};
  }

  void write(const double* q, double log_sigma, const DrawView& draw) override {
    forward(q, log_sigma);
    const Scales scale = scales(problem_, q[layout_.t()], q[layout_.g()], log_sigma);
    std::copy_n(arrays_.beta, layout_.coefficients, draw.coef);
    std::copy_n(arrays_.eta, layout_.coefficients, draw.log_lambda);
    *draw.log_tau = scale.log_tau;
    *draw.log_c2 = scale.log_c2;
  }

 private:
  const Problem& problem_;
  Layout layout_;
  std::size_t padded_;
  Buffer<double> work_;
  PriorArrays arrays_{};
  double *slope_ = nullptr, *slope_eta_ = nullptr;
};

class Horseshoe final : public CoefficientPrior {
 public:
  Horseshoe() : CoefficientPrior("horseshoe", true) {}

  std::unique_ptr<PriorTerms> terms(const Problem& problem) const override {
    return std::make_unique<HorseshoeTerms>(problem);
  }
  std::unique_ptr<ScaleUpdates> updates(const Problem& problem) const override {
    return make_horseshoe_updates(problem);
  }
};

}  // namespace

const CoefficientPrior& horseshoe_prior() {
  static const Horseshoe prior;
  return prior;
}

}  // namespace ispca
