// The blocked sampler's state, and what it asks of a prior: updates of the scales given the coefficients.
#pragma once
#include <vector>

#include "prior.hpp"
#include "random.hpp"

namespace ispca {

// The state of the blocked sampler, laid out as in Layout with all coefficients, also the fixed ones, in the place of
// z. The only extra parameter is log sigma.
struct CentredState {
  CentredState(const Problem& problem, std::vector<double> start) : layout(problem), values(std::move(start)) {}
  Layout layout;
  std::vector<double> values;
  double* intercept() { return values.data(); }
  double* beta() { return values.data() + layout.z(); }
  double* eta() { return values.data() + layout.eta() + layout.fixed; }
  double& t() { return values[layout.t() + layout.fixed]; }
  double& g() { return values[layout.g() + layout.fixed]; }
  double& log_sigma() { return values[layout.extra() + layout.fixed]; }
  double noise() const { return layout.extras ? values[layout.extra() + layout.fixed] : 0; }
};

// One object per chain (it has scratch).
class ScaleUpdates {
 public:
  virtual ~ScaleUpdates() = default;
  // Updates every scale from its full conditional.
  virtual void sweep(Random& random, CentredState& state) = 0;
  // 1 / sigma_j^2 for every coefficient, also for the fixed ones.
  virtual void precisions(CentredState& state, double* out) const = 0;
  // log density of the scales that carry a unit (tau and c), multiplied by a; -1e300 out of bounds.
  virtual double scaled(CentredState& state, double log_a) const = 0;
  // (tau, c, beta) -> (a tau, a c, a beta); fixed coefficients stay
  virtual void scale(CentredState& state, double log_a) const = 0;
};

// Fills in the precisions of the fixed coefficients.
void fixed_precisions(const Problem& problem, double* out);
// Draws a start from the middle of the prior.
std::vector<double> centered_start(const Problem& problem, Random& random);
void write_centered(const Problem& problem, CentredState& state, const DrawView& draw);

}  // namespace ispca
