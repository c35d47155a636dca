// The interface of a likelihood: its value and slope at given coefficients. One object per chain (it has scratch).
#pragma once
#include <memory>

#include "problem.hpp"

namespace ispca {

// Where the slopes go: dl/d intercept (H), dl/d beta (H x K), dl/d extra parameters.
struct Slopes {
  double *intercept = nullptr, *beta = nullptr, *extra = nullptr;
};

class Likelihood {
 public:
  virtual ~Likelihood() = default;
  // log p(y | intercept, beta, extra) + log p(extra) up to a constant, and its slopes.
  virtual double value(const double* intercept, const double* beta, const double* extra, const Slopes& slopes) = 0;
};

// What the blocked sampler of the families in family_glm.hpp needs besides.
class GlmLikelihood : public Likelihood {
 public:
  // Keeps X beta, so that value_along(intercept, a) = log p(y | intercept, a beta) costs no product with X. Only the
  // coefficients under the prior are multiplied by a; fixed ones stay.
  virtual void set_direction(const double* beta) = 0;
  virtual double value_along(const double* intercept, double scale) = 0;
  // The curvature -d2 l / d(intercept, beta)_h^2 of output h is [1 X]^T diag(v_h) [1 X]; v = p (1 - p) for
  // classes, and the means of counts.
  // add_weights adds v^2 for every output and row; curvature fills H blocks (K+1 x K+1, lower triangles).
  virtual std::size_t weights() const = 0;
  virtual void add_weights(const double* intercept, const double* beta, double* squares) = 0;
  virtual void curvature(const double* weights, double* blocks, const Poll& poll) = 0;
};

std::unique_ptr<GlmLikelihood> make_glm_likelihood(const Problem& problem);

}  // namespace ispca
