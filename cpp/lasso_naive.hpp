// Coordinate descent on the weighted least-squares problem of one output, with a running residual.
#pragma once
#include <cstddef>
#include <vector>

#include "lasso_columns.hpp"

namespace ispca {

inline double soft_threshold(double value, double lambda) {
  return value > lambda ? value - lambda : value < -lambda ? value + lambda : 0.0;
}

// Minimises over b (features of the set) and the intercept
//   -residual . d_eta + 1/2 sum_i curvature_i d_eta_i^2 + lambda sum_j factor_j |b_j|,
// where d_eta is the change of the predictor since b = start. The intercept is profiled out.
class NaiveDescent {
 public:
  NaiveDescent(const Columns& x, const Standardization& standard, const std::vector<double>& factors, const Poll& poll)
      : x_(x), standard_(standard), factors_(factors), poll_(poll) {}

  // Changes b (of all features, standardized units) and eta; returns the change of the intercept that goes with
  // standardized columns. The largest squared step of a last cycle, in units of the loss, is below `tolerance`.
  double solve(const std::vector<std::size_t>& set, double lambda, double tolerance, const double* residual,
               const double* curvature, double* b, double* eta);

 private:
  void prepare(const double* residual, const double* curvature);
  void descend(double tolerance, const double* curvature);
  double visit(std::size_t k, const double* curvature);
  void keep(std::size_t position);
  void accelerate(const double* curvature);
  double objective(const std::vector<double>& b, const std::vector<double>& working, double sum,
                   const double* curvature) const;
  double finish(double* b, double* eta) const;

  const Columns& x_;
  const Standardization& standard_;
  const std::vector<double>& factors_;  // of the penalties
  const Poll& poll_;
  const std::vector<std::size_t>* set_ = nullptr;
  double lambda_ = 0, total_ = 0, initial_ = 0;   // total_: sum of the curvatures; initial_: first intercept step
  std::vector<double> b_, first_, diagonal_;      // per feature of the set
  std::vector<double> working_;                   // residual less curvature times d_eta, per row
  double working_sum_ = 0;
  std::size_t visits_ = 0;
  // The last iterates, for the acceleration.
  std::vector<std::vector<double>> kept_b_, kept_working_;
  std::vector<double> kept_sum_;
};

}  // namespace ispca
