// The state of a family's predictors in one fit of the lasso: what the families share.
#include "lasso_likelihood.hpp"

#include <algorithm>
#include <utility>

namespace ispca {

LassoLikelihood::LassoLikelihood(const LassoProblem& problem)
    : outputs_(problem.outputs), rows_(problem.x.rows), y_(problem.y), weight_(problem.weight), offset_(problem.offset),
      eta_(outputs_ * rows_), residual_(outputs_ * rows_), curvature_(outputs_ * rows_) {}

double LassoLikelihood::mean(std::size_t c) const {
  double sum = 0;
  for (std::size_t i = 0; i < rows_; ++i) sum += weight_[i] * y_[c * rows_ + i];
  return sum;
}

// A class that is missing among these rows gets a probability of one in a hundred million, not of zero.
double LassoLikelihood::class_frequency(std::size_t c) const { return std::min(std::max(mean(c), 1e-8), 1 - 1e-8); }

void LassoLikelihood::start(std::vector<double> intercepts) {
  null_ = std::move(intercepts);
  for (std::size_t c = 0; c < outputs_; ++c)
    for (std::size_t i = 0; i < rows_; ++i) eta(c)[i] = null_[c] + offset(i);
  update_all();
  null_loss_ = loss();
}

void LassoLikelihood::weigh(const std::vector<double>& frozen, std::size_t, const double* column, double scale,
                            double* out) const {
  for (std::size_t i = 0; i < rows_; ++i) out[i] = scale * frozen[i] * (column ? column[i] : 1.0);
}

}  // namespace ispca
