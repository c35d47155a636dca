// What the samplers ask of the prior of the coefficients. Each prior is one file, prior_NAME.cpp, listed in prior.cpp.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "draws.hpp"
#include "problem.hpp"

namespace ispca {

class ScaleUpdates;

// Layout of the parameter vector q, with P coefficients under the prior (class by class) and F fixed ones:
//   b0 (H, or none) | z (P) | eta = log lambda (P) | t = log(tau / tau0) | g = log(c2 / s^2) | extra parameters | u (F)
// with tau0 multiplied by sigma where there is noise. Without local scales there is neither eta nor g. Fixed
// coefficients are u times their standard deviation.
struct Layout {
  explicit Layout(const Problem& problem);
  std::size_t intercepts, coefficients, local, extras, fixed;
  std::size_t z() const { return intercepts; }
  std::size_t eta() const { return intercepts + coefficients; }
  std::size_t t() const { return intercepts + (1 + local) * coefficients; }
  std::size_t g() const { return t() + 1; }
  std::size_t extra() const { return t() + 1 + local; }
  std::size_t u() const { return extra() + extras; }
  std::size_t size() const { return u() + fixed; }
};

// log tau of given t and log sigma (0 without noise), clamped so that no power of it overflows.
double log_global_scale(const Problem& problem, double t, double log_sigma);
// -log(2 cosh x), the log density of log(tau / tau0) and of log lambda under the half-Cauchy.
double half_cauchy(double x);

// Moves the log lambda of the coefficients under the prior, the first of the array, to their places among all of them;
// fixed coefficients get 0.
void spread_local(const Problem& problem, double* log_lambda);

// What the scales add: the log density of t (and g), and the slope of the likelihood along log tau.
struct ScaleTerms {
  double value, through_tau;
};

// The prior of one chain (it has scratch), which knows only the P coefficients under it. They are a function of q;
// forward comes before backward.
class PriorTerms {
 public:
  virtual ~PriorTerms() = default;
  // Fills beta(); returns the log density of z (and eta) up to a constant.
  virtual double forward(const double* q, double log_sigma) = 0;
  virtual const double* beta() const = 0;
  // Where the likelihood leaves dl/dbeta.
  virtual double* slope() = 0;
  // Fills the gradient of z and t (and eta and g) from slope().
  virtual ScaleTerms backward(const double* q, double* gradient) = 0;
  // Fills the coefficients and scales of a draw.
  virtual void write(const double* q, double log_sigma, const DrawView& draw) = 0;
};

class CoefficientPrior {
 public:
  const char* const name;
  const bool local_scales;  // a scale lambda_j for every coefficient, and a slab

  virtual ~CoefficientPrior() = default;
  CoefficientPrior(const CoefficientPrior&) = delete;
  CoefficientPrior& operator=(const CoefficientPrior&) = delete;

  virtual std::unique_ptr<PriorTerms> terms(const Problem& problem) const = 0;            // for NUTS
  virtual std::unique_ptr<ScaleUpdates> updates(const Problem& problem) const = 0;  // for the blocked sampler

 protected:
  CoefficientPrior(const char* prior, bool has_local_scales) : name(prior), local_scales(has_local_scales) {}
};

// The priors, each defined in its file.
const CoefficientPrior& horseshoe_prior();
const CoefficientPrior& ridge_prior();

// All priors. Packed chain states store positions in this list.
const std::vector<const CoefficientPrior*>& priors();

// The prior of that name; throws std::invalid_argument if there is none.
const CoefficientPrior& find_prior(const std::string& name);

}  // namespace ispca
