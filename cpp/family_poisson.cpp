// The Poisson family: y is a count 0, 1, 2, ..., whose mean mu = exp(f) is the exponential of the linear predictor f:
//   log p(y) = y f - exp(f) - log y!,   d log p / d f = y - exp(f),   -d2 log p / d f^2 = exp(f).
// The constant log y! is left out. Beyond f = 50 exp(f) is continued linearly (kernels_counts.hpp).
#include "family_counts.hpp"
#include "lasso_likelihood.hpp"

namespace ispca {
namespace {

class Poisson final : public GlmFamily {
 public:
  Poisson() : GlmFamily("poisson", "poisson") {}

  void check(const RawData& raw) const override { check_counts(raw); }

  double response(double y, double, std::size_t) const override { return y; }

  void prepare(const RawData& raw, const Poll& poll, Problem& problem) const override {
    GlmFamily::prepare(raw, poll, problem);
    problem.y_center = log_mean_count(raw);
  }

  double residuals(const GlmKernels<float>& kernels, const GlmTile<float>& tile) const override {
    return kernels.poisson(tile.rows, tile.response, tile.weight, tile.predictors);
  }
  double residuals(const GlmKernels<double>& kernels, const GlmTile<double>& tile) const override {
    return kernels.poisson(tile.rows, tile.response, tile.weight, tile.predictors);
  }

  std::unique_ptr<LassoLikelihood> lasso_likelihood(const LassoProblem& problem) const override {
    return poisson_lasso(problem);
  }

  void add_squares(const GlmTile<float>& tile, double* squares) const override { add_means(tile, squares); }
  void add_squares(const GlmTile<double>& tile, double* squares) const override { add_means(tile, squares); }

 private:
  // The curvature is the mean times the weight: w y minus the residual.
  template <class Real>
  static void add_means(const GlmTile<Real>& tile, double* squares) {
    for (std::size_t i = 0; i < tile.rows; ++i) {
      const double v = static_cast<double>(tile.weight[i]) * static_cast<double>(tile.response[i]) -
                       static_cast<double>(tile.predictors[i]);
      squares[i] += v * v;
    }
  }
};

}  // namespace

const Family& poisson_family() {
  static const Poisson family;
  return family;
}

}  // namespace ispca
