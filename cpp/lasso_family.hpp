// The three likelihoods of the lasso path: their residuals, curvatures and deviance.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace ispca {

enum class Family { gaussian, binomial, multinomial };

Family parse_family(const std::string& name);

// State of the predictors eta (outputs x rows) of one fit; weights sum to one and are 0 in the rows left out.
class LassoLikelihood {
 public:
  LassoLikelihood(Family family, std::size_t outputs, std::size_t rows, const double* y, const double* weight);
  Family family() const { return family_; }
  std::size_t outputs() const { return outputs_; }
  const double* residual(std::size_t c) const { return &residual_[c * rows_]; }    // weight (y - mean)
  const double* curvature(std::size_t c) const { return &curvature_[c * rows_]; }  // weight variance
  std::vector<double> means() const;  // outputs x rows: probabilities of the classes
  const double* weight() const { return weight_; }
  double* eta(std::size_t c) { return &eta_[c * rows_]; }
  const std::vector<double>& intercepts() const { return null_; }  // of the model without features
  // After eta(c) has changed: refresh the residual and curvature of that output.
  void update(std::size_t c);
  // After any change: refresh the residuals and curvatures of all outputs.
  void update_all();
  double loss();  // mean negative log likelihood (gaussian: half the mean squared error)
  double null_loss() const { return null_loss_; }

 private:
  void fill_softmax(std::size_t c);
  Family family_;
  std::size_t outputs_, rows_;
  const double *y_, *weight_;
  std::vector<double> eta_, residual_, curvature_, exponential_, shift_, null_;
  double null_loss_ = 0;
};

}  // namespace ispca
