// Logistic and softmax likelihoods: products with the design and an elementwise part, both from the kernels.
#include <algorithm>
#include <cmath>

#include "likelihood.hpp"

namespace ispca {
namespace {

template <class Real>
class Glm final : public GlmLikelihood {
 public:
  Glm(const Problem& problem, const GlmData<Real>& data, const GlmKernels<Real>& kernels)
      : logistic_(problem.model == Model::logistic), outputs_(problem.outputs), columns_(problem.columns),
        samples_(problem.n), data_(data), kernels_(kernels), predictors_(outputs_ * data.tile_rows),
        direction_(outputs_ * data.rows), product_(data.tile_rows), partial_(outputs_ * columns_ * kRowBlock),
        workspace_(2 * data.tile_rows) {}

  double value(const double* intercept, const double* beta, double, Slopes& slopes) override {
    double value = 0;
    std::fill_n(partial_.data(), partial_.size(), Real(0));
    std::fill_n(slopes.intercept, outputs_, 0.0);
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const Design<Real> tile = data_.tile(start);
      value += residuals(tile, start, intercept, beta);
      for (std::size_t h = 0; h < outputs_; ++h)
        slopes.intercept[h] +=
            kernels_.project(tile, predictors_.data() + h * tile.rows, partial_.data() + h * columns_ * kRowBlock);
    }
    kernels_.gather(outputs_ * columns_, partial_.data(), slopes.beta);
    return value;
  }

  void set_direction(const double* beta) override {
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const Design<Real> tile = data_.tile(start);
      Real* out = direction_.data() + start * outputs_;
      for (std::size_t h = 0; h < outputs_; ++h) kernels_.predict(tile, 0, beta + h * columns_, out + h * tile.rows);
    }
  }

  double value_along(const double* intercept, double scale) override {
    double value = 0;
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const std::size_t rows = data_.tile(start).rows;
      const Real* direction = direction_.data() + start * outputs_;
      for (std::size_t h = 0; h < outputs_; ++h)
        kernels_.along(rows, intercept[h], scale, direction + h * rows, predictors_.data() + h * rows);
      value += to_residuals(rows, start);
    }
    return value;
  }

  std::size_t weights() const override { return outputs_ * data_.rows; }

  // p (1 - p) = r (1 - r), with r = |residual|: r is p or 1 - p.
  void add_weights(const double* intercept, const double* beta, double* squares) override {
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const Design<Real> tile = data_.tile(start);
      residuals(tile, start, intercept, beta);
      for (std::size_t i = 0; i < outputs_ * tile.rows; ++i) {
        const double r = std::fabs(static_cast<double>(predictors_[i])), v = r * std::max(1 - r, 0.0);
        squares[start * outputs_ + i] += v * v;
      }
    }
  }

  void curvature(const double* weights, double* blocks, const Poll& poll) override {
    const std::size_t square = (columns_ + 1) * (columns_ + 1);
    std::fill_n(blocks, outputs_ * square, 0.0);
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const Design<Real> tile = data_.tile(start);
      for (std::size_t i = 0; i < outputs_ * tile.rows; ++i)
        predictors_[i] = static_cast<Real>(weights[start * outputs_ + i]);
      for (std::size_t h = 0; h < outputs_; ++h) {
        poll();
        kernels_.weighted_gram(tile, predictors_.data() + h * tile.rows, product_.data(), blocks + h * square);
      }
    }
  }

 private:
  // Log likelihood of one tile; leaves its residuals in predictors_.
  double residuals(const Design<Real>& tile, std::size_t start, const double* intercept, const double* beta) {
    for (std::size_t h = 0; h < outputs_; ++h)
      kernels_.predict(tile, intercept[h], beta + h * columns_, predictors_.data() + h * tile.rows);
    return to_residuals(tile.rows, start);
  }

  double to_residuals(std::size_t rows, std::size_t start) {
    const Real* response = data_.response.data() + start * outputs_;
    const std::size_t padding = start + rows == data_.rows ? data_.rows - samples_ : 0;
    if (logistic_) return kernels_.logistic(rows, padding, response, predictors_.data());
    return kernels_.softmax(rows, outputs_, response, data_.weight.data() + start, predictors_.data(),
                            workspace_.data());
  }

  const bool logistic_;
  const std::size_t outputs_, columns_, samples_;
  const GlmData<Real>& data_;
  const GlmKernels<Real>& kernels_;
  Buffer<Real> predictors_, direction_, product_, partial_, workspace_;
};

}  // namespace

std::unique_ptr<GlmLikelihood> make_glm_likelihood(const Problem& problem) {
  if (problem.double_precision) return std::make_unique<Glm<double>>(problem, problem.full, problem.kernels->full);
  return std::make_unique<Glm<float>>(problem, problem.single, problem.kernels->single);
}

std::unique_ptr<Likelihood> make_likelihood(const Problem& problem) {
  if (problem.model == Model::gaussian) return make_gaussian_likelihood(problem);
  return make_glm_likelihood(problem);
}

}  // namespace ispca
