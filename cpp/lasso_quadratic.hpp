// The weighted least-squares problem with an l1 penalty that each Newton step of the lasso solves.
#pragma once
#include <cstddef>
#include <vector>

#include "lasso_columns.hpp"

namespace ispca {

// Minimises over b (features of the set) and the intercept
//   -residual . d_eta + 1/2 sum_i curvature_i d_eta_i^2 + lambda |b|_1,
// where d_eta is the change of the predictor since b = start. The intercept is profiled out.
class QuadraticLasso {
 public:
  QuadraticLasso(const Columns& x, const Standardisation& standard) : x_(x), standard_(standard) {}

  // Changes b (of all features, standardised units) and eta; returns the change of the intercept that goes with
  // standardised columns.
  double solve(const std::vector<std::size_t>& set, double lambda, double tolerance, const double* residual,
               const double* curvature, double* b, double* eta);

 private:
  void prepare(const double* residual, const double* curvature);
  void descend_naive(const double* residual, const double* curvature);
  void descend_gram(const double* residual, const double* curvature);
  double visit_naive(std::size_t k, const double* curvature);
  double visit_gram(std::size_t k, const double* curvature);
  const double* gram_row(std::size_t k, const double* curvature);
  bool jump_to_support(const double* curvature);

  const Columns& x_;
  const Standardisation& standard_;
  const std::vector<std::size_t>* set_ = nullptr;
  double lambda_ = 0, tolerance_ = 0, total_ = 0;          // total_: sum of the curvatures
  double working_sum_ = 0;                                 // sum of working_
  std::vector<double> b_, first_, diagonal_, gradient_;    // per feature of the set
  std::vector<double> working_;                            // residual less curvature times d_eta, per row
  std::vector<double> centred_, gram_, factor_, step_;     // centred_: one column times curvature
  std::vector<std::ptrdiff_t> row_of_;
  std::vector<std::size_t> support_;
};

}  // namespace ispca
