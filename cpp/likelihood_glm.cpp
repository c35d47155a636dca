// Logistic and softmax likelihoods: products with the design and an elementwise part, both from the kernels.
#include <algorithm>

#include "likelihood.hpp"

namespace ispca {
namespace {

template <class Real>
class Glm final : public GlmLikelihood {
 public:
  Glm(const Problem& problem, const GlmData<Real>& data, const GlmKernels<Real>& kernels)
      : logistic_(problem.model == Model::logistic),
        outputs_(problem.outputs),
        rows_(data.design.rows),
        data_(data),
        kernels_(kernels),
        predictors_(outputs_ * rows_),
        direction_(outputs_ * rows_),
        product_(rows_),
        workspace_(2 * rows_) {}

  double value(const double* intercept, const double* beta, double, Slopes& slopes) override {
    const std::size_t columns = data_.design.columns;
    predict(intercept, beta, predictors_.data());
    const double value = to_residuals();
    for (std::size_t h = 0; h < outputs_; ++h)
      slopes.intercept[h] = kernels_.project(data_.design, row(predictors_, h), slopes.beta + h * columns);
    return value;
  }

  void set_direction(const double* beta) override {
    for (std::size_t h = 0; h < outputs_; ++h)
      kernels_.predict(data_.design, 0, beta + h * data_.design.columns, row(direction_, h));
  }

  double value_along(const double* intercept, double scale) override {
    for (std::size_t h = 0; h < outputs_; ++h)
      kernels_.along(rows_, intercept[h], scale, row(direction_, h), row(predictors_, h));
    return to_residuals();
  }

  // The curvature in f_h is p_h (1 - p_h), with p_h the probability of the class: r (1 - r) with r = |residual|.
  void add_curvature(const double* intercept, const double* beta, double* blocks) override {
    const std::size_t size = data_.design.columns + 1;
    predict(intercept, beta, predictors_.data());
    to_residuals();
    for (std::size_t h = 0; h < outputs_; ++h) {
      Real* r = row(predictors_, h);
      for (std::size_t i = 0; i < rows_; ++i) {
        const Real size_of = r[i] < 0 ? -r[i] : r[i];
        r[i] = data_.weight[i] * size_of * std::max(Real(1) - size_of, Real(0));
      }
      kernels_.weighted_gram(data_.design, r, product_.data(), blocks + h * size * size);
    }
  }

 private:
  Real* row(Buffer<Real>& buffer, std::size_t h) { return buffer.data() + h * rows_; }

  void predict(const double* intercept, const double* beta, Real* out) {
    for (std::size_t h = 0; h < outputs_; ++h)
      kernels_.predict(data_.design, intercept[h], beta + h * data_.design.columns, out + h * rows_);
  }

  double to_residuals() {
    if (logistic_) return kernels_.logistic(rows_, data_.response.data(), predictors_.data());
    return kernels_.softmax(rows_, outputs_, data_.response.data(), data_.weight.data(), predictors_.data(),
                            workspace_.data());
  }

  const bool logistic_;
  const std::size_t outputs_, rows_;
  const GlmData<Real>& data_;
  const GlmKernels<Real>& kernels_;
  Buffer<Real> predictors_, direction_, product_;
  Buffer<double> workspace_;
};

}  // namespace

std::unique_ptr<GlmLikelihood> make_glm_likelihood(const Problem& problem) {
  if (problem.double_precision)
    return std::make_unique<Glm<double>>(problem, problem.full, problem.kernels->full);
  return std::make_unique<Glm<float>>(problem, problem.single, problem.kernels->single);
}

std::unique_ptr<Likelihood> make_likelihood(const Problem& problem) {
  if (problem.model == Model::gaussian) return make_gaussian_likelihood(problem);
  return make_glm_likelihood(problem);
}

}  // namespace ispca
