// What is sampled: the data, the model and the constants of the prior, shared by all chains.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "buffer.hpp"
#include "interrupt.hpp"
#include "kernels.hpp"

namespace ispca {

class CoefficientPrior;
class Family;
class GlmFamily;

struct Prior {
  const CoefficientPrior* kind = nullptr;
  double tau0 = 1;              // scale of the half-Cauchy on tau (Gaussian: in units of sigma)
  double slab_df = 4;           // nu (the slab: horseshoe only)
  double slab_scale = 5;        // s
  double intercept_scale = 10;
  double sigma_scale = 0;       // half-Student-t(3) scale on sigma; 0: flat on log sigma
};

// Raw arguments: x is row-major n x columns, y has n entries whose meaning is the family's. The others may be null: a
// weight multiplies the log likelihood of its sample, an offset is added to its linear predictor, and a column with a
// fixed_scale above 0 has coefficients that are normal with this standard deviation.
struct RawData {
  std::size_t n = 0, columns = 0, classes = 2;
  const double *x = nullptr, *y = nullptr;
  const double *weight = nullptr, *offset = nullptr, *fixed_scale = nullptr;

  double weight_of(std::size_t i) const { return weight ? weight[i] : 1; }
  double offset_of(std::size_t i) const { return offset ? offset[i] : 0; }
};

// The design in tiles of rows, with the response in the form the family's kernel takes. A tile that starts at (padded)
// row r has its values at r K, its weights and offsets at r and its responses at r H.
template <class Real>
struct GlmData {
  const GlmFamily* family = nullptr;
  Buffer<Real> values, response, weight, offset;  // no offset: an empty buffer
  std::size_t rows = 0, columns = 0, tile_rows = 0;
  bool weighted = false;  // otherwise the weights are 1, and 0 in the padding

  Design<Real> tile(std::size_t start) const {
    return {std::min(tile_rows, rows - start), columns, values.data() + start * columns};
  }
};

// What the Gaussian model needs of X and y. K <= n: sufficient statistics in K x K numbers. K > n: n rows of [X y],
// rotated so that row 0 is sqrt(n) times the means and the others, contrasts of samples, are free of them. A sample of
// weight w counts as w samples.
struct GaussianData {
  double n = 0, y_mean = 0, y_squares = 0;  // sum of the weights, centered sum of squares of y
  double sigma_floor = 0;                   // below it sigma is penalized, see noise_prior.hpp
  Buffer<double> gram, cross, x_mean;       // K <= n: Xc^T Xc, Xc^T yc, column means
  Buffer<double> rows, response;            // K > n
  std::vector<std::size_t> numbers;         // K > n: 0, 1, ..., n - 1

  // out_i = row i . x for the first `count` rows
  void products(const Kernels& kernels, std::size_t count, const double* x, double* out) const {
    kernels.lasso.column_dots(rows.size() / numbers.size(), rows.data(), numbers.data(), count, x, out);
  }
  // out = rows beta
  void predict(const Kernels& kernels, const double* beta, double* out) const {
    products(kernels, numbers.size(), beta, out);
  }
  // out = rows^T r
  void project(const Kernels& kernels, const double* r, double* out) const {
    const std::size_t columns = rows.size() / numbers.size();
    std::fill_n(out, columns, 0.0);
    for (std::size_t i : numbers) kernels.lasso.axpy(columns, r[i], rows.data() + i * columns, out);
  }
};

// The samples that leave the risk set at the same time. Samples are sorted by decreasing time: those before `end` are
// at risk.
struct RiskSet {
  std::size_t end = 0;
  double events = 0;  // total weight of the events at this time
};

struct Problem {
  const Family* family = nullptr;
  bool double_precision = false;
  std::size_t n = 0, columns = 0;
  std::size_t outputs = 1;  // H: rows of coefficients (1, or the number of classes)
  std::size_t extras = 0;   // parameters of the family besides intercepts and coefficients
  Prior prior;
  std::vector<std::size_t> penalized, fixed;  // coefficients under `prior`, and those that are N(0, fixed_scale^2)
  std::vector<double> fixed_scale;
  double log_tau0 = 0, log_slab2 = 0;  // log tau0, log s^2
  double y_center = 0, y_scale = 1;    // where intercepts and, with noise, its standard deviation start
  std::vector<double> extra_start;     // where the other extra parameters start
  const Kernels* kernels = nullptr;
  GlmData<float> single;
  GlmData<double> full;
  GaussianData gaussian;
  std::vector<RiskSet> risk_sets;             // survival times
  std::vector<double> levels, level_weights;  // counts and ordered classes: the values of y, and their total weights

  std::size_t coefficients() const { return outputs * columns; }
  bool wide() const { return columns > n; }  // Gaussian: rows instead of a Gram matrix
};

// Throws std::invalid_argument unless the condition holds; the message is a sentence for the user.
void require(bool condition, const char* message);

// Requires at least two classes, and y to hold their numbers.
void check_classes(const RawData& raw);

// Checks and prepares the data; throws std::invalid_argument with a sentence for the user, or what `poll` throws.
Problem make_problem(const Family& family, const RawData& given, const Prior& prior, const Kernels& kernels,
                     bool double_precision, const Poll& poll);

}  // namespace ispca
