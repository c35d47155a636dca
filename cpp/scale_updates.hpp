// Slice updates of the scales given the coefficients: local scales, global scale, slab.
#pragma once
#include <vector>

#include "density.hpp"
#include "prior_horseshoe.hpp"

namespace ispca {

// The state of the blocked sampler, laid out as in Layout with beta in the place of z.
struct CentredState {
  CentredState(const Problem& problem, std::vector<double> values) : layout(problem), values(std::move(values)) {}
  Layout layout;
  std::vector<double> values;
  double* intercept() { return values.data(); }
  double* beta() { return values.data() + layout.z(); }
  double* eta() { return values.data() + layout.eta(); }
  double& t() { return values[layout.t()]; }
  double& g() { return values[layout.g()]; }
  double& log_sigma() { return values[layout.log_sigma()]; }
  double noise() const { return layout.noise ? values[layout.log_sigma()] : 0; }
};

class ScaleUpdates {
 public:
  explicit ScaleUpdates(const Problem& problem);

  // Updates every eta_j, then t against all eta_j, then t and g, each from its full conditional.
  void sweep(Random& random, CentredState& state);
  // 1 / sigma_j^2 for every coefficient.
  void precisions(CentredState& state, double* out) const;

 private:
  void update_local(Random& random, CentredState& state);
  void trade(Random& random, CentredState& state);
  double global(double t, double g, double log_sigma) const;

  const Problem& problem_;
  const std::size_t size_;
  Buffer<double> a_, beta_squared_, zero_;  // exp(-2 eta_j), beta_j^2, 0
};

// Draws a start from the middle of the prior.
std::vector<double> centred_start(const Problem& problem, Random& random);
void write_centred(const Problem& problem, CentredState& state, const DrawView& draw);

}  // namespace ispca
