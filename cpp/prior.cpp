// The list of priors, how they are found by name, and what they share.
#include "prior.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "family.hpp"

namespace ispca {

Layout::Layout(const Problem& problem)
    : outputs(problem.outputs), coefficients(problem.coefficients()), local(problem.prior.kind->local_scales ? 1 : 0),
      noise(problem.family->noise ? 1 : 0) {}

// t in +-100 covers all prior mass down to e^-100.
double log_global_scale(const Problem& problem, double t, double log_sigma) {
  const double log_tau = problem.log_tau0 + std::clamp(t, -100.0, 100.0) + log_sigma;
  return std::clamp(log_tau, -150.0, 150.0);
}

double half_cauchy(double x) { return -std::fabs(x) - std::log1p(std::exp(-2 * std::fabs(x))); }

const std::vector<const CoefficientPrior*>& priors() {
  static const std::vector<const CoefficientPrior*> all = {&horseshoe_prior(), &ridge_prior()};
  return all;
}

const CoefficientPrior& find_prior(const std::string& name) {
  for (const CoefficientPrior* prior : priors())
    if (name == prior->name) return *prior;
  throw std::invalid_argument("prior '" + name + "' is unknown; choose horseshoe or ridge");
}

}  // namespace ispca
