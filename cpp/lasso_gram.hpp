// The Newton model of all outputs together, with the rows of its Hessian made when first needed and then kept.
#pragma once
#include <cstddef>
#include <vector>

#include "lasso_columns.hpp"
#include "lasso_likelihood.hpp"

namespace ispca {

// A coordinate is output * features + feature. The curvature stays that of the last freeze while the gradient is
// always exact: as long as the predictors have not moved far, that converges nearly as fast as Newton's method, and
// the Hessian, the expensive part, serves many steps and several penalties. Intercepts are profiled out.
class GramDescent {
 public:
  GramDescent(const Columns& x, const Standardization& standard, const std::vector<double>& factors,
              LassoLikelihood& likelihood, const Poll& poll)
      : x_(x), standard_(standard), factors_(factors), likelihood_(likelihood), poll_(poll),
        outputs_(likelihood.outputs()), by_output_(outputs_) {}

  void freeze();
  void add(std::size_t coordinate);
  double memory() const { return memory_; }  // numbers held

  // Minimises the model with the penalty lambda sum_j factor_j |b_j|; changes b, the intercepts and the predictors.
  void solve(double lambda, double tolerance, double* b, double* intercepts);

 private:
  struct Row {
    std::vector<double> values;    // the Hessian, as far as it has been asked for
    std::vector<double> weighted;  // outputs x rows: the column times the curvature, less its intercepts' part
    std::vector<double> shift;     // what a unit step takes off each intercept
  };
  const Row& row(std::size_t k);
  void start_row(std::size_t k);
  void weigh(std::size_t output, const double* column, double scale, double* out) const {
    likelihood_.weigh(frozen_, output, column, scale, out);
  }
  void begin(double lambda, const double* b);
  void move(std::size_t k, double change);
  double visit(std::size_t k);
  void descend(double tolerance);
  bool jump();
  void finish(double* b, double* intercepts);

  const Columns& x_;
  const Standardization& standard_;
  const std::vector<double>& factors_;  // of the penalties
  LassoLikelihood& likelihood_;
  const Poll& poll_;
  std::size_t outputs_;
  double memory_ = 0;
  std::vector<double> frozen_;                     // what weigh needs of the curvature of the last freeze
  std::vector<double> inverse_;                    // of the Hessian of the intercepts, outputs x outputs
  std::vector<double> start_;                      // the step of the intercepts when no coefficient moves
  std::vector<std::size_t> slots_;                 // coordinates
  struct Slots {
    std::vector<std::size_t> feature, slot;
  };
  std::vector<Slots> by_output_;
  std::vector<Row> rows_;
  std::vector<double> penalties_;                  // per slot
  std::vector<double> b_, gradient_, before_, factor_, step_, products_, residual_;
  std::vector<std::size_t> support_;
};

}  // namespace ispca
