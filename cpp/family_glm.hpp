// Families whose log likelihood is a function of the samples' linear predictors, mostly a sum over samples.
#pragma once
#include "family.hpp"

namespace ispca {

// What a family's kernel sees of a tile of rows; predictors are outputs x rows.
template <class Real>
struct GlmTile {
  std::size_t rows, padding, outputs;
  bool weighted;  // otherwise the weights are 1, and 0 in the padding
  const Real *response, *weight;
  Real *predictors, *workspace;
  const double* extra;   // the extra parameters
  double* extra_slopes;  // to which the tile adds
  const Problem* problem;
  double* scratch;  // of the size that the family asks for
};

// Fills the levels of the problem and their weights, in increasing order.
void fill_levels(const RawData& raw, Problem& problem);

class GlmFamily : public Family {
 public:
  bool one_tile = false;  // the kernel needs all samples at once
  virtual std::size_t scratch(const Problem&, std::size_t /*tile_rows*/) const { return 0; }
  virtual void check(const RawData& raw) const = 0;
  // What the kernel takes as the response of an output in a sample; without weights the weight is 1.
  virtual double response(double y, double weight, std::size_t output) const = 0;
  // The log likelihood of a tile; replaces its predictors by the residuals, the slopes with respect to them.
  virtual double residuals(const GlmKernels<float>& kernels, const GlmTile<float>& tile) const = 0;
  virtual double residuals(const GlmKernels<double>& kernels, const GlmTile<double>& tile) const = 0;

  // Adds the squares of the curvatures -d2 l / d f^2 of every predictor f, of which the tile holds the residuals. This
  // one is for classes: p (1 - p) = r (1 - r), with r = |residual|, which is p or 1 - p. A weight multiplies both.
  virtual void add_squares(const GlmTile<float>& tile, double* squares) const;
  virtual void add_squares(const GlmTile<double>& tile, double* squares) const;

  // What the extra parameters add once: their prior, and what depends on no predictor. The slopes hold those of the
  // tiles, and become those of the sampled parameters.
  virtual double finish(const Problem&, const double* /*extra*/, double* /*slopes*/) const { return 0; }

  void prepare(const RawData& raw, const Poll& poll, Problem& problem) const override;
  std::unique_ptr<Likelihood> likelihood(const Problem& problem) const final;
  void run_blocked(const Problem& problem, const Settings& settings, ChainState& chain, const ChainOutput& output,
                   const Poll& poll) const final;
  std::size_t blocked_metric_size(const Problem& problem) const final;

 protected:
  using Family::Family;
};

}  // namespace ispca
