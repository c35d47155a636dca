// The list of priors, how they are found by name, and what they share.
#include "prior.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "family.hpp"

namespace ispca {

Layout::Layout(const Problem& problem)
    : intercepts(problem.family->intercept ? problem.outputs : 0), coefficients(problem.penalized.size()),
      local(problem.prior.kind->local_scales ? 1 : 0), extras(problem.extras), fixed(problem.fixed.size()) {}

// t in +-100 covers all prior mass down to e^-100.
double log_global_scale(const Problem& problem, double t, double log_sigma) {
  const double log_tau = problem.log_tau0 + std::clamp(t, -100.0, 100.0) + log_sigma;
  return std::clamp(log_tau, -150.0, 150.0);
}

double half_cauchy(double x) { return -std::fabs(x) - std::log1p(std::exp(-2 * std::fabs(x))); }

void spread_local(const Problem& problem, double* log_lambda) {
  for (std::size_t j = problem.penalized.size(); j-- > 0;) log_lambda[problem.penalized[j]] = log_lambda[j];
  for (std::size_t i : problem.fixed) log_lambda[i] = 0;
}

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
