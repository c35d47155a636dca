// The table of inner loops that exist once per instruction set (baseline, AVX2, AVX-512).
#pragma once
#include <cstddef>
#include <cstdint>

namespace ispca {

// A tile of the design matrix: some rows, stored column by column, padded with zeros to a multiple of kRowBlock.
// Tiles are small enough to stay in the first-level cache between X b and X^T r.
template <class Real>
struct Design {
  std::size_t rows = 0;
  std::size_t columns = 0;
  const Real* values = nullptr;
};

constexpr std::size_t kRowBlock = 16;   // one AVX-512 register of float
constexpr std::size_t kWideBlock = 8;   // one AVX-512 register of double; parameter vectors are padded to it

// Loops over observations; `Real` is the storage of the design (float to sample, double to check).
template <class Real>
struct GlmKernels {
  // predictor = intercept + offset + X coefficients; the offset may be null
  void (*predict)(const Design<Real>&, double intercept, const Real* offset, const double* coefficients,
                  Real* predictor);
  // adds x_ij residual_i to kRowBlock partial sums per column; returns sum_i residual_i
  double (*project)(const Design<Real>&, const Real* residual, Real* partial);
  // gradient_j = sum of the partial sums of column j, which are used up
  void (*gather)(std::size_t columns, Real* partial, double* gradient);
  // predictor = intercept + base + scale * direction; the base may be null
  void (*along)(std::size_t rows, double intercept, const Real* base, double scale, const Real* direction,
                Real* predictor);
  // log likelihood; replaces the predictor by the residual. sign is +1, -1, or 0 in the rows of padding
  double (*logistic)(std::size_t rows, std::size_t padding, const Real* sign, Real* predictor);
  double (*weighted_logistic)(std::size_t rows, const Real* sign, const Real* weight, Real* predictor);
  // the same for classes x rows predictors; indicator is one-hot times weight, which is 0 in the padding and, unless
  // weighted, 1 elsewhere
  double (*softmax)(std::size_t rows, std::size_t classes, bool weighted, const Real* indicator, const Real* weight,
                    Real* predictors, Real* workspace);
  // the same for counts whose log means are the predictors
  double (*poisson)(std::size_t rows, const Real* count, const Real* weight, Real* predictor);
  // adds the slope with respect to log phi
  double (*negative_binomial)(std::size_t rows, double log_phi, const Real* count, const Real* weight, Real* predictor,
                              double* slope);
  // the same for ordered classes between a lower and an upper threshold, which are replaced by their slopes
  double (*ordinal)(std::size_t rows, const Real* weight, double* lower, double* upper, Real* predictor);
  // gram (K+1 x K+1, intercept first, row-major, lower triangle) += [1 X]^T diag(weight) [1 X]
  void (*weighted_gram)(const Design<Real>&, const Real* weight, Real* workspace, double* gram);
};

// Vectors of the prior, all padded to kWideBlock with zeros.
struct PriorArrays {
  double *z, *eta;            // in: standardized coefficients, log local scales
  double *sd, *shrink, *tanh;  // out: sigma_j, w_j, tanh(eta_j)
  double* beta;               // out: z_j sigma_j
};

// Loops of the lasso's coordinate descent, over columns and rows of the design.
struct LassoKernels {
  // out_k = x_(index_k) . r for the columns of a column-major matrix
  void (*column_dots)(std::size_t rows, const double* matrix, const std::size_t* index, std::size_t count,
                      const double* r, double* out);
  double (*dot)(std::size_t size, const double* x, const double* y);
  void (*axpy)(std::size_t size, double a, const double* x, double* y);  // y += a x
  // y += a v x, entry by entry
  void (*weighted_axpy)(std::size_t size, double a, const double* v, const double* x, double* y);
  // sums = {sum v x, sum v x^2}
  void (*weighted_moments)(std::size_t size, const double* v, const double* x, double* sums);
};

constexpr std::size_t kClassStrip = 64;     // permutations whose codes lie together, one cache line per sample
constexpr std::size_t kClassChunk = 256;    // entries that are summed in single precision
constexpr std::size_t kMostClasses = 256;

// sums (kMostClasses x kClassStrip) = sums of the entries of a column by class, for kClassStrip permutations of the
// classes (codes: samples x kClassStrip); that of class 0 may be left out. In double precision unless `single`.
template <class Value>
using ClassSums = void (*)(std::size_t count, const Value* values, const std::int32_t* rows, const std::uint8_t* codes,
                           std::size_t classes, bool single, double* sums);

struct ClassKernels {
  ClassSums<float> of_single;
  ClassSums<double> of_full;
};

struct Kernels {
  const char* name;
  GlmKernels<float> single;
  GlmKernels<double> full;
  // fills the outputs of PriorArrays; returns sum_j (eta_j - log(1 + exp(2 eta_j)) - z_j^2 / 2)
  double (*prior_forward)(std::size_t size, double tau2, double c2, const PriorArrays&);
  // replaces slope = dl/dbeta by dl/dz and fills dl/deta; sums = {sum G beta w, sum G beta (1 - w)}
  void (*prior_backward)(std::size_t size, const PriorArrays&, double* slope, double* slope_eta, double* sums);
  // p += step/2 g, q += step M^-1 p
  void (*kick_drift)(std::size_t size, double step, const double* inverse_metric, const double* gradient,
                     double* momentum, double* position);
  // p += step/2 g; returns p M^-1 p / 2
  double (*kick)(std::size_t size, double step, const double* inverse_metric, const double* gradient, double* momentum);
  // the generalized U-turn criterion for two adjacent trajectories; adds rho_second to rho_first
  bool (*keeps_going)(std::size_t size, const double* inverse_metric, const double* const* momenta, double* rho_first,
                      const double* rho_second);
  // out = A x for a dense row-major square matrix
  void (*multiply)(std::size_t size, const double* matrix, const double* x, double* out);
  // sum_j (log u_j - beta_j^2 u_j) / 2 with u_j = 1/c2 + a_j / tau2: log density of beta given its scales
  double (*scale_terms)(std::size_t size, double inverse_c2, double inverse_tau2, const double* a,
                        const double* beta_squared);
  // Columns [from, to) of the Cholesky factor L of the lower triangle, in place, with L^T above; those before must
  // be done. False if the matrix is not positive definite
  bool (*cholesky)(std::size_t size, std::size_t from, std::size_t to, double* matrix);
  void (*solve_lower)(std::size_t size, const double* factor, double* x);  // x <- L^-1 x
  void (*solve_upper)(std::size_t size, const double* factor, double* x);  // x <- L^-T x
  LassoKernels lasso;
  ClassKernels classes;
};

}  // namespace ispca
