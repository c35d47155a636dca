// The multinomial family: two or more classes, with probabilities that are the softmax of one linear predictor each.
#include <algorithm>
#include <cmath>

#include "family_glm.hpp"
#include "lasso_likelihood.hpp"

namespace ispca {
namespace {

constexpr double kLeastProbability = 1e-300;

class MultinomialLasso final : public LassoLikelihood {
 public:
  explicit MultinomialLasso(const LassoProblem& problem)
      : LassoLikelihood(problem), exponential_(outputs_ * rows_), shift_(rows_) {
    std::vector<double> intercepts(outputs_);
    double mean = 0;
    for (std::size_t c = 0; c < outputs_; ++c) {
      intercepts[c] = std::log(class_frequency(c));
      mean += intercepts[c] / static_cast<double>(outputs_);
    }
    for (double& value : intercepts) value -= mean;
    start(std::move(intercepts));
  }

  // The other classes' exponentials and the shift stay as they are.
  void update(std::size_t c) override {
    for (std::size_t i = 0; i < rows_; ++i)
      exponential_[c * rows_ + i] = std::exp(std::min(eta_[c * rows_ + i] - shift_[i], 600.0));
    fill(c);
  }

  void update_all() override {
    for (std::size_t i = 0; i < rows_; ++i) shift_[i] = largest(i);
    for (std::size_t c = 0; c < outputs_; ++c)
      for (std::size_t i = 0; i < rows_; ++i) exponential_[c * rows_ + i] = std::exp(eta_[c * rows_ + i] - shift_[i]);
    for (std::size_t c = 0; c < outputs_; ++c) fill(c);
  }

  double loss() const override {
    double sum = 0;
    for (std::size_t i = 0; i < rows_; ++i) {
      if (weight_[i] == 0) continue;
      const double top = largest(i);
      double total = 0, linear = 0;
      for (std::size_t c = 0; c < outputs_; ++c) {
        total += std::exp(eta_[c * rows_ + i] - top);
        linear += y_[c * rows_ + i] * eta_[c * rows_ + i];
      }
      sum += weight_[i] * (top + std::log(total) - linear);
    }
    return sum;
  }

  // The probabilities of the classes, from which weigh makes p_c ([c = d] - p_d).
  std::vector<double> frozen() const override {
    std::vector<double> p = exponential_;
    for (std::size_t i = 0; i < rows_; ++i) {
      const double sum = std::max(total(i), kLeastProbability);
      for (std::size_t c = 0; c < outputs_; ++c) p[c * rows_ + i] /= sum;
    }
    return p;
  }

  void weigh(const std::vector<double>& frozen, std::size_t output, const double* column, double scale,
             double* out) const override {
    const double* p = &frozen[output * rows_];
    for (std::size_t d = 0; d < outputs_; ++d)
      for (std::size_t i = 0; i < rows_; ++i)
        out[d * rows_ + i] =
            scale * weight_[i] * p[i] * ((d == output) - frozen[d * rows_ + i]) * (column ? column[i] : 1.0);
  }

 private:
  double largest(std::size_t i) const {
    double top = eta_[i];
    for (std::size_t c = 1; c < outputs_; ++c) top = std::max(top, eta_[c * rows_ + i]);
    return top;
  }

  double total(std::size_t i) const {
    double sum = 0;
    for (std::size_t c = 0; c < outputs_; ++c) sum += exponential_[c * rows_ + i];
    return sum;
  }

  void fill(std::size_t c) {
    for (std::size_t i = 0; i < rows_; ++i) {
      const std::size_t at = c * rows_ + i;
      const double p = exponential_[at] / std::max(total(i), kLeastProbability);
      residual_[at] = weight_[i] * (y_[at] - p);
      curvature_[at] = weight_[i] * std::max(p * (1 - p), kLeastVariance);
    }
  }

  std::vector<double> exponential_, shift_;  // exp(eta - shift), outputs x rows
};

class Multinomial final : public GlmFamily {
 public:
  Multinomial() : GlmFamily("softmax", "multinomial") { per_class = true; }

  void check(const RawData& raw) const override {
    check_classes(raw);
    require(!raw.offset, "the softmax model takes no offset, which would be the same for every class and cancel");
  }

  double response(double y, double weight, std::size_t output) const override {
    return static_cast<std::size_t>(y) == output ? weight : 0;
  }

  double residuals(const GlmKernels<float>& kernels, const GlmTile<float>& tile) const override {
    return log_likelihood(kernels, tile);
  }
  double residuals(const GlmKernels<double>& kernels, const GlmTile<double>& tile) const override {
    return log_likelihood(kernels, tile);
  }

  std::unique_ptr<LassoLikelihood> lasso_likelihood(const LassoProblem& problem) const override {
    return std::make_unique<MultinomialLasso>(problem);
  }

 private:
  template <class Real>
  static double log_likelihood(const GlmKernels<Real>& kernels, const GlmTile<Real>& tile) {
    return kernels.softmax(tile.rows, tile.outputs, tile.weighted, tile.response, tile.weight, tile.predictors,
                           tile.workspace);
  }
};

}  // namespace

const Family& multinomial_family() {
  static const Multinomial family;
  return family;
}

}  // namespace ispca
