// The state of a family's predictors in one fit of the lasso: residuals, curvatures, loss and null model.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "lasso_path.hpp"

namespace ispca {

// Arrays are outputs x rows.
class LassoLikelihood {
 public:
  virtual ~LassoLikelihood() = default;
  LassoLikelihood(const LassoLikelihood&) = delete;
  LassoLikelihood& operator=(const LassoLikelihood&) = delete;

  std::size_t outputs() const { return outputs_; }
  double* eta(std::size_t c) { return &eta_[c * rows_]; }
  const double* residual(std::size_t c) const { return &residual_[c * rows_]; }    // weight (y - mean)
  const double* curvature(std::size_t c) const { return &curvature_[c * rows_]; }  // weight variance
  const std::vector<double>& intercepts() const { return null_; }                  // of the model without features
  double null_loss() const { return null_loss_; }

  // After eta(c) has changed: refreshes the residual and curvature of that output.
  virtual void update(std::size_t c) = 0;
  // After any change: refreshes those of all outputs.
  virtual void update_all() { update(0); }
  // Mean negative log likelihood (gaussian: half the mean squared error).
  virtual double loss() const = 0;
  // What weigh needs to know of the present curvature.
  virtual std::vector<double> frozen() const { return curvature_; }
  // out (outputs x rows) = scale times the frozen curvature times a column (null: of ones) that belongs to one output.
  virtual void weigh(const std::vector<double>& frozen, std::size_t output, const double* column, double scale,
                     double* out) const;

 protected:
  // Keeps the quadratic approximation positive definite where a class is all but certain.
  static constexpr double kLeastVariance = 1e-9;

  explicit LassoLikelihood(const LassoProblem& problem);
  double mean(std::size_t c) const;             // of y
  double class_frequency(std::size_t c) const;  // the same, away from 0 and 1
  double offset(std::size_t i) const { return offset_ ? offset_[i] : 0.0; }
  // Goes to the null model; each family's constructor ends with it.
  void start(std::vector<double> intercepts);

  const std::size_t outputs_, rows_;
  const double *y_, *weight_, *offset_;
  std::vector<double> eta_, residual_, curvature_;

 private:
  std::vector<double> null_;
  double null_loss_ = 0;
};

// Those whose family's samplers need a file of their own.
std::unique_ptr<LassoLikelihood> poisson_lasso(const LassoProblem& problem);
std::unique_ptr<LassoLikelihood> cox_lasso(const LassoProblem& problem);

}  // namespace ispca
