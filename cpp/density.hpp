// The log posterior of the non-centred parameters and its gradient.
#pragma once
#include <memory>

#include "draws.hpp"
#include "family.hpp"
#include "likelihood.hpp"
#include "random.hpp"

namespace ispca {

// Layout of the parameter vector q, with P = H K coefficients (class by class):
//   b0 (H) | z (P) | eta = log lambda (P) | t = log(tau / tau0) | g = log(c2 / s^2) | log sigma (families with noise)
// with tau0 multiplied by sigma where there is noise.
struct Layout {
  explicit Layout(const Problem& problem)
      : outputs(problem.outputs), coefficients(problem.coefficients()), noise(problem.family->noise ? 1 : 0) {}
  std::size_t outputs, coefficients, noise;
  std::size_t z() const { return outputs; }
  std::size_t eta() const { return outputs + coefficients; }
  std::size_t t() const { return outputs + 2 * coefficients; }
  std::size_t g() const { return t() + 1; }
  std::size_t log_sigma() const { return t() + 2; }
  std::size_t size() const { return t() + 2 + noise; }
};

// log tau and log c2 of given t, g and log sigma (0 without noise), clamped so that no power of them overflows.
struct Scales {
  double log_tau, log_c2;
};
Scales scales(const Problem& problem, double t, double g, double log_sigma);

// -log(2 cosh x), the log density of log(tau / tau0) and of log lambda under the half-Cauchy.
double half_cauchy(double x);
// -(nu/2) (g + exp(-g)): c2 is inverse-gamma(nu/2, nu s^2 / 2).
double slab_prior(const Problem& problem, double g);

class Density {
 public:
  explicit Density(const Problem& problem);
  std::size_t size() const { return layout_.size(); }
  // Returns log p(q | data) up to a constant and fills the gradient. NaN where q is not finite.
  double operator()(const double* q, double* gradient);
  // A starting point; finite density is not guaranteed.
  void start(Random& random, double spread, double* q) const;
  void write(const double* q, const DrawView& draw) const;

 private:
  void load(const double* q);
  const Problem& problem_;
  Layout layout_;
  std::unique_ptr<Likelihood> likelihood_;
  std::size_t padded_;
  mutable Buffer<double> work_;
  PriorArrays arrays_{};
  double *slope_ = nullptr, *slope_eta_ = nullptr;
};

}  // namespace ispca
