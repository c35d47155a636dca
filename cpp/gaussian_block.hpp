// The coefficients of the Gaussian model given their scales: residuals, evidence and exact draws.
#pragma once
#include <algorithm>
#include <memory>

#include "interrupt.hpp"
#include "scale_updates.hpp"

namespace ispca {

// Residual sum of squares at a beta:
// rss(a) = |yc|^2 - 2 a (Xc^T yc) beta + a^2 beta Xc^T Xc beta + n (mean y - b0 - a mean x beta)^2.
// Only coefficients under the prior are multiplied by a; fixed ones are first subtracted from y with their columns.
struct Residual {
  double squares, linear, quadratic, mean, mean_slope, n;
  double operator()(double a) const {
    const double d = mean - a * mean_slope;
    return std::max(squares - 2 * a * linear + a * a * quadratic, 0.0) + n * d * d;
  }
};

class GaussianBlock {
 public:
  virtual ~GaussianBlock() = default;
  virtual Residual residual(CentredState& state) = 0;
  // log p(y | scales, sigma) without the coefficients, up to what does not depend on tau and c.
  virtual double evidence(CentredState& state, const ScaleUpdates& scales) = 0;
  // Draws intercept and coefficients from their joint normal distribution; for wide data sigma before them.
  virtual void draw(Random& random, CentredState& state, const ScaleUpdates& scales) = 0;
};

// One object per chain. Solves with K + 1 unknowns, or with n of them where these are fewer (wide data).
std::unique_ptr<GaussianBlock> make_gaussian_block(const Problem& problem, const Poll& poll);
std::unique_ptr<GaussianBlock> make_wide_block(const Problem& problem, const Poll& poll);

}  // namespace ispca
