// Data and likelihood of the families in family_glm.hpp: products with the design here, the rest from the family.
#include "family_glm.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "likelihood.hpp"

namespace ispca {
namespace {

template <class Real>
GlmData<Real> glm_data(const GlmFamily& family, const RawData& raw, std::size_t outputs) {
  constexpr std::size_t kTileBytes =
      std::size_t{24} * 1024;  // leaves a quarter of a small first-level cache to the rest
  GlmData<Real> data;
  data.family = &family;
  data.rows = round_up(raw.n, kRowBlock);
  data.columns = raw.columns;
  const std::size_t fitting = kTileBytes / (sizeof(Real) * raw.columns) / kRowBlock * kRowBlock;
  data.tile_rows = family.one_tile ? data.rows : std::min(std::max<std::size_t>(fitting, 2 * kRowBlock), data.rows);
  data.values = Buffer<Real>(data.rows * raw.columns);
  data.weight = Buffer<Real>(data.rows);
  data.response = Buffer<Real>(data.rows * outputs);
  data.weighted = raw.weight != nullptr;
  if (raw.offset) data.offset = Buffer<Real>(data.rows);
  for (std::size_t i = 0; i < raw.n; ++i) {
    const std::size_t start = i / data.tile_rows * data.tile_rows, at = i - start;
    const std::size_t stride = data.tile(start).rows;
    Real *values = data.values.data() + start * raw.columns, *response = data.response.data() + start * outputs;
    for (std::size_t j = 0; j < raw.columns; ++j)
      values[j * stride + at] = static_cast<Real>(raw.x[i * raw.columns + j]);
    data.weight[i] = static_cast<Real>(raw.weight_of(i));
    if (raw.offset) data.offset[i] = static_cast<Real>(raw.offset[i]);
    for (std::size_t h = 0; h < outputs; ++h)
      response[h * stride + at] = static_cast<Real>(family.response(raw.y[i], raw.weight_of(i), h));
  }
  return data;
}

template <class Real>
class Glm final : public GlmLikelihood {
 public:
  Glm(const Problem& problem, const GlmData<Real>& data, const GlmKernels<Real>& kernels)
      : problem_(problem), family_(*data.family), outputs_(problem.outputs), columns_(problem.columns),
        samples_(problem.n), data_(data), kernels_(kernels), predictors_(outputs_ * data.tile_rows),
        direction_(outputs_ * data.rows), product_(data.tile_rows), partial_(outputs_ * columns_ * kRowBlock),
        workspace_(2 * data.tile_rows), scratch_(family_.scratch(problem, data.tile_rows)), zero_(outputs_),
        unused_(outputs_), fixed_(problem.fixed),
        base_(fixed_.empty() && data.offset.size() == 0 ? 0 : direction_.size()),
        moving_(base_.size() ? problem.coefficients() : 0), staying_(moving_.size()) {}

  double value(const double* intercept, const double* beta, const double* extra, const Slopes& slopes) override {
    double value = 0;
    double* slope = family_.intercept ? slopes.intercept : unused_.data();
    std::fill_n(partial_.data(), partial_.size(), Real(0));
    std::fill_n(slope, outputs_, 0.0);
    std::fill_n(slopes.extra, problem_.extras, 0.0);
    extra_ = extra;
    extra_slopes_ = slopes.extra;
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const Design<Real> tile = data_.tile(start);
      value += residuals(tile, start, family_.intercept ? intercept : zero_.data(), beta);
      for (std::size_t h = 0; h < outputs_; ++h)
        slope[h] +=
            kernels_.project(tile, predictors_.data() + h * tile.rows, partial_.data() + h * columns_ * kRowBlock);
    }
    kernels_.gather(outputs_ * columns_, partial_.data(), slopes.beta);
    if (problem_.extras) value += family_.finish(problem_, extra, slopes.extra);
    return value;
  }

  void set_direction(const double* beta) override {
    if (base_.size() == 0) return multiply(beta, false, direction_);
    std::copy_n(beta, moving_.size(), moving_.data());
    for (std::size_t i : fixed_) staying_[i] = std::exchange(moving_[i], 0.0);
    multiply(moving_.data(), false, direction_);
    multiply(staying_.data(), true, base_);
  }

  double value_along(const double* intercept, double scale) override {
    double value = 0;
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const std::size_t rows = data_.tile(start).rows;
      const Real* direction = direction_.data() + start * outputs_;
      for (std::size_t h = 0; h < outputs_; ++h)
        kernels_.along(rows, intercept[h], base_.size() ? base_.data() + start * outputs_ + h * rows : nullptr, scale,
                       direction + h * rows, predictors_.data() + h * rows);
      value += to_residuals(rows, start);
    }
    return value;
  }

  std::size_t weights() const override { return outputs_ * data_.rows; }

  void add_weights(const double* intercept, const double* beta, double* squares) override {
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const Design<Real> tile = data_.tile(start);
      residuals(tile, start, intercept, beta);
      family_.add_squares(glm_tile(tile.rows, start), squares + start * outputs_);
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
      kernels_.predict(tile, intercept[h], offset(start), beta + h * columns_, predictors_.data() + h * tile.rows);
    return to_residuals(tile.rows, start);
  }

  const Real* offset(std::size_t start) const { return data_.offset.size() ? data_.offset.data() + start : nullptr; }

  // out = X beta of every output, with or without the offset
  void multiply(const double* beta, bool with_offset, Buffer<Real>& out) {
    for (std::size_t start = 0; start < data_.rows; start += data_.tile_rows) {
      const Design<Real> tile = data_.tile(start);
      Real* to = out.data() + start * outputs_;
      for (std::size_t h = 0; h < outputs_; ++h)
        kernels_.predict(tile, 0, with_offset ? offset(start) : nullptr, beta + h * columns_, to + h * tile.rows);
    }
  }

  double to_residuals(std::size_t rows, std::size_t start) {
    return family_.residuals(kernels_, glm_tile(rows, start));
  }

  GlmTile<Real> glm_tile(std::size_t rows, std::size_t start) {
    const std::size_t padding = start + rows == data_.rows ? data_.rows - samples_ : 0;
    return {rows,
            padding,
            outputs_,
            data_.weighted,
            data_.response.data() + start * outputs_,
            data_.weight.data() + start,
            predictors_.data(),
            workspace_.data(),
            extra_,
            extra_slopes_,
            &problem_,
            scratch_.data()};
  }

  const Problem& problem_;
  const GlmFamily& family_;
  const std::size_t outputs_, columns_, samples_;
  const GlmData<Real>& data_;
  const GlmKernels<Real>& kernels_;
  Buffer<Real> predictors_, direction_, product_, partial_, workspace_;
  Buffer<double> scratch_, zero_, unused_;  // the last two: intercepts that are not sampled, and their slopes
  const double* extra_ = nullptr;
  double* extra_slopes_ = nullptr;
  // The part of the predictors that value_along leaves alone: offset and fixed coefficients.
  const std::vector<std::size_t>& fixed_;
  Buffer<Real> base_;
  Buffer<double> moving_, staying_;
};

}  // namespace

namespace {

template <class Real>
void add_class_squares(const GlmTile<Real>& tile, double* squares) {
  for (std::size_t i = 0; i < tile.outputs * tile.rows; ++i) {
    const double w = tile.weighted ? static_cast<double>(tile.weight[i % tile.rows]) : 1;
    const double r = std::fabs(static_cast<double>(tile.predictors[i]));
    const double v = r * std::max(1 - (w > 0 ? r / w : 0), 0.0);
    squares[i] += v * v;
  }
}

}  // namespace

void GlmFamily::add_squares(const GlmTile<float>& tile, double* squares) const { add_class_squares(tile, squares); }
void GlmFamily::add_squares(const GlmTile<double>& tile, double* squares) const { add_class_squares(tile, squares); }

void fill_levels(const RawData& raw, Problem& problem) {
  std::map<double, double> weights;
  for (std::size_t i = 0; i < raw.n; ++i) weights[raw.y[i]] += raw.weight_of(i);
  for (const auto& [level, weight] : weights) {
    problem.levels.push_back(level);
    problem.level_weights.push_back(weight);
  }
}

std::unique_ptr<GlmLikelihood> make_glm_likelihood(const Problem& problem) {
  if (problem.double_precision) return std::make_unique<Glm<double>>(problem, problem.full, problem.kernels->full);
  return std::make_unique<Glm<float>>(problem, problem.single, problem.kernels->single);
}

void GlmFamily::prepare(const RawData& raw, const Poll&, Problem& problem) const {
  check(raw);
  if (problem.double_precision) problem.full = glm_data<double>(*this, raw, problem.outputs);
  else problem.single = glm_data<float>(*this, raw, problem.outputs);
}

std::unique_ptr<Likelihood> GlmFamily::likelihood(const Problem& problem) const { return make_glm_likelihood(problem); }

}  // namespace ispca
