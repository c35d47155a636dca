// Hamiltonian update of intercepts and coefficients given their scales, for the blocked sampler.
#pragma once
#include <memory>
#include <vector>

#include "likelihood.hpp"
#include "scale_updates.hpp"

namespace ispca {

struct BetaUpdate {
  double accept = 0;
  int leapfrogs = 0;
  bool divergent = false;
};

// The metric is M_h = [1 X]^T diag(v_h) [1 X] + diag(prior precisions), one block per output h, with v_h the root mean
// square over warm-up draws of the curvatures of the log likelihood, p_h (1 - p_h) for classes: close to the expected
// curvature, but safer than it for rows that are certain in some draws and not in others (text data have many), where
// the mean would allow too long a step. With M = L L^T and momentum p = L r, r ~ N(0, I), the whitened form is theta' =
// L^-T r, r' = L^-1 grad.
class BetaHmc {
 public:
  BetaHmc(const Problem& problem, const Poll& poll);

  GlmLikelihood& likelihood() { return *likelihood_; }
  Buffer<double>& curvature() { return curvature_; }
  // Collects the weights of the curvature at the state, and makes a metric of those collected.
  void collect(CentredState& state);
  void use_collected();
  BetaUpdate update(Random& random, CentredState& state, const ScaleUpdates& scales, double step);

 private:
  void load(CentredState& state, const ScaleUpdates& scales);
  void factorise();
  double potential(const std::vector<double>& theta);
  void whiten_gradient();
  void drift(double step);

  const Problem& problem_;
  const Poll& poll_;  // called before every evaluation of the likelihood
  const std::size_t outputs_, columns_, block_;  // block_ = K + 1
  std::unique_ptr<GlmLikelihood> likelihood_;
  Buffer<double> curvature_, factor_, squares_;
  double collected_ = 0;
  std::vector<double> theta_, precision_, gradient_, momentum_, white_, velocity_;
  std::vector<double> intercept_, beta_, slope_intercept_, slope_beta_, beta_precision_;
};

}  // namespace ispca
