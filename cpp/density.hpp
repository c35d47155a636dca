// The log posterior of the non-centered parameters and its gradient.
#pragma once
#include <memory>

#include "family.hpp"
#include "likelihood.hpp"
#include "prior.hpp"
#include "random.hpp"

namespace ispca {

class Density {
 public:
  explicit Density(const Problem& problem);
  std::size_t size() const { return layout_.size(); }
  // Returns log p(q | data) up to a constant and fills the gradient. NaN where q is not finite.
  double operator()(const double* q, double* gradient);
  // A starting point; finite density is not guaranteed.
  void start(Random& random, double spread, double* q) const;
  void write(const double* q, const DrawView& draw);

 private:
  double log_sigma(const double* q) const { return problem_.family->noise ? q[layout_.extra()] : 0; }
  void join_coefficients(const double* q);
  double split_slopes(const double* q, double* gradient);

  const Problem& problem_;
  Layout layout_;
  std::unique_ptr<Likelihood> likelihood_;
  std::unique_ptr<PriorTerms> prior_;
  Buffer<double> beta_, slope_;  // of all coefficients, where some are fixed
};

}  // namespace ispca
