// Small dense linear algebra: Cholesky factor, triangular solves and a product (row-major).
#pragma once
#include <cmath>
#include <cstddef>

namespace {
using std::size_t;

inline double dense_dot(size_t size, const double* x, const double* y) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < size; ++i) sum += x[i] * y[i];
  return sum;
}

inline void dense_axpy(size_t size, double a, const double* x, double* y) {
#pragma omp simd
  for (size_t i = 0; i < size; ++i) y[i] += a * x[i];
}

void multiply(size_t size, const double* matrix, const double* x, double* out) {
  for (size_t i = 0; i < size; ++i) out[i] = dense_dot(size, matrix + i * size, x);
}

// A = L L^T from the lower triangle; L replaces it, and L^T the upper one, so that both can be walked by rows.
// Column by column: scale column k, then subtract its outer product from what is left (no dot products, whose
// latency would dominate at this size).
bool cholesky(size_t size, size_t from, size_t to, double* matrix) {
  for (size_t k = from; k < to; ++k) {
    double* column = matrix + k * size;  // column k of L, laid out in row k of L^T
    if (!(column[k] > 0)) return false;
    column[k] = std::sqrt(column[k]);
    const double scale = 1 / column[k];
    for (size_t i = k + 1; i < size; ++i) column[i] = matrix[i * size + k] *= scale;
    for (size_t i = k + 1; i < size; ++i) dense_axpy(i - k, -column[i], column + k + 1, matrix + i * size + k + 1);
  }
  return true;
}

// x <- L^-1 x
void solve_lower(size_t size, const double* factor, double* x) {
  for (size_t k = 0; k < size; ++k) {
    const double* column = factor + k * size;
    x[k] /= column[k];
    dense_axpy(size - k - 1, -x[k], column + k + 1, x + k + 1);
  }
}

// x <- L^-T x
void solve_upper(size_t size, const double* factor, double* x) {
  for (size_t k = size; k-- > 0;) {
    const double* row = factor + k * size;
    x[k] /= row[k];
    dense_axpy(k, -x[k], row, x);
  }
}

}  // namespace
