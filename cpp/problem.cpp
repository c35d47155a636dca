// Checks the arguments and brings the data into the form the kernels want.
#include "problem.hpp"

#include <cmath>
#include <stdexcept>

namespace ispca {
namespace {

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

bool positive(double value) { return std::isfinite(value) && value > 0; }

void check(Model model, const RawData& raw, const Prior& prior) {
  require(raw.n >= 2, "at least two samples are needed");
  require(raw.columns >= 1, "at least one feature is needed");
  require(positive(prior.tau0) && prior.tau0 >= 1e-30 && prior.tau0 <= 1e30, "tau0 must lie in [1e-30, 1e30]");
  require(positive(prior.slab_df) && prior.slab_df <= 1e6, "slab_df must be positive and at most 1e6");
  require(positive(prior.slab_scale) && prior.slab_scale >= 1e-30 && prior.slab_scale <= 1e30,
          "slab_scale must lie in [1e-30, 1e30]");
  require(positive(prior.intercept_scale), "intercept_scale must be positive");
  require(std::isfinite(prior.sigma_scale) && prior.sigma_scale >= 0, "sigma_scale must be 0 or positive");
  for (std::size_t i = 0; i < raw.n * raw.columns; ++i)
    require(std::fabs(raw.x[i]) <= 1e30, "X has entries that are not finite or beyond 1e30");  // so float32 holds them
  for (std::size_t i = 0; i < raw.n; ++i) require(std::fabs(raw.y[i]) <= 1e100, "y has entries that are not finite");
  if (model == Model::gaussian) return;
  require(raw.classes >= 2, "at least two classes are needed");
  require(model == Model::softmax || raw.classes == 2, "the logistic model needs exactly two classes");
  const double classes = static_cast<double>(raw.classes);
  for (std::size_t i = 0; i < raw.n; ++i)
    require(raw.y[i] >= 0 && raw.y[i] < classes && raw.y[i] == std::floor(raw.y[i]),
            "y must hold the class numbers 0, 1, ..., n_classes - 1");
}

template <class Real>
GlmData<Real> glm_data(Model model, const RawData& raw) {
  constexpr std::size_t kTileBytes = 24 * 1024;  // leaves a quarter of a small first-level cache to the rest
  GlmData<Real> data;
  data.rows = round_up(raw.n, kRowBlock);
  data.columns = raw.columns;
  const std::size_t fitting = kTileBytes / (sizeof(Real) * raw.columns) / kRowBlock * kRowBlock;
  data.tile_rows = std::min(std::max<std::size_t>(fitting, 2 * kRowBlock), data.rows);
  const bool logistic = model == Model::logistic;
  const std::size_t width = logistic ? 1 : raw.classes;
  data.values = Buffer<Real>(data.rows * raw.columns);
  data.weight = Buffer<Real>(data.rows);
  data.response = Buffer<Real>(data.rows * width);
  for (std::size_t i = 0; i < raw.n; ++i) {
    const std::size_t start = i / data.tile_rows * data.tile_rows, at = i - start;
    const std::size_t stride = data.tile(start).rows;
    Real *values = data.values.data() + start * raw.columns, *response = data.response.data() + start * width;
    for (std::size_t j = 0; j < raw.columns; ++j)
      values[j * stride + at] = static_cast<Real>(raw.x[i * raw.columns + j]);
    data.weight[i] = 1;
    if (logistic) response[at] = raw.y[i] > 0 ? Real(1) : Real(-1);
    else response[static_cast<std::size_t>(raw.y[i]) * stride + at] = 1;
  }
  return data;
}

double mean(std::size_t n, const double* values, std::size_t stride) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += values[i * stride];
  return sum / static_cast<double>(n);
}

// Sums over samples; K^2 numbers each.
void fill_gram(const RawData& raw, const Poll& poll, GaussianData& data) {
  const std::size_t K = raw.columns;
  data.gram = Buffer<double>(K * K);
  data.cross = Buffer<double>(K);
  data.x_mean = Buffer<double>(K);
  for (std::size_t j = 0; j < K; ++j) data.x_mean[j] = mean(raw.n, raw.x + j, K);
  Buffer<double> row(K);
  for (std::size_t i = 0; i < raw.n; ++i) {
    poll();
    const double y = raw.y[i] - data.y_mean;
    for (std::size_t j = 0; j < K; ++j) row[j] = raw.x[i * K + j] - data.x_mean[j];
    for (std::size_t j = 0; j < K; ++j) {
      data.cross[j] += row[j] * y;
      for (std::size_t k = 0; k < K; ++k) data.gram[j * K + k] += row[j] * row[k];
    }
  }
}

// A Householder reflection of each column takes the unit vector of means to the first axis: what is left of a centred
// column c is c_i - c_0 / (1 + sqrt(n)), i > 0.
void fill_rows(const RawData& raw, GaussianData& data) {
  const std::size_t n = raw.n, K = raw.columns;
  const double root = std::sqrt(data.n);
  data.rows = Buffer<double>(n * K);
  data.response = Buffer<double>(n);
  data.numbers.resize(n);
  const auto rotate = [&](const double* from, std::size_t stride, double centre, double* to) {
    to[0] = root * centre;
    const double first = (from[0] - centre) / (1 + root);
    for (std::size_t i = 1; i < n; ++i) to[i * stride] = from[i * stride] - centre - first;
  };
  for (std::size_t j = 0; j < K; ++j) rotate(raw.x + j, K, mean(n, raw.x + j, K), data.rows.data() + j);
  rotate(raw.y, 1, data.y_mean, data.response.data());
  for (std::size_t i = 0; i < n; ++i) data.numbers[i] = i;
}

GaussianData gaussian_data(const RawData& raw, bool wide, const Poll& poll) {
  GaussianData data;
  data.n = static_cast<double>(raw.n);
  data.y_mean = mean(raw.n, raw.y, 1);
  for (std::size_t i = 0; i < raw.n; ++i) data.y_squares += (raw.y[i] - data.y_mean) * (raw.y[i] - data.y_mean);
  const double spread = std::sqrt(data.y_squares / data.n);
  data.sigma_floor = 1e-6 * std::fmax(spread, std::fmax(1e-8 * std::fabs(data.y_mean), 1e-90));
  if (wide) fill_rows(raw, data);
  else fill_gram(raw, poll, data);
  return data;
}

}  // namespace

Model parse_model(const std::string& name) {
  if (name == "logistic") return Model::logistic;
  if (name == "softmax") return Model::softmax;
  if (name == "gaussian") return Model::gaussian;
  throw std::invalid_argument("model '" + name + "' is unknown; choose logistic, softmax or gaussian");
}

Problem make_problem(Model model, const RawData& raw, const Prior& prior, const Kernels& kernels, bool double_precision,
                     const Poll& poll) {
  check(model, raw, prior);
  Problem problem;
  problem.model = model;
  problem.double_precision = double_precision;
  problem.n = raw.n;
  problem.columns = raw.columns;
  problem.outputs = model == Model::softmax ? raw.classes : 1;
  problem.prior = prior;
  problem.log_tau0 = std::log(prior.tau0);
  problem.log_slab2 = 2 * std::log(prior.slab_scale);
  problem.kernels = &kernels;
  if (model == Model::gaussian) problem.gaussian = gaussian_data(raw, problem.wide(), poll);
  else if (double_precision) problem.full = glm_data<double>(model, raw);
  else problem.single = glm_data<float>(model, raw);
  return problem;
}

}  // namespace ispca
