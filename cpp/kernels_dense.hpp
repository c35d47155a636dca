// Small dense linear algebra: Cholesky factor, triangular inverse and products (row-major).
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

// A = L L^T: L_ij = (A_ij - sum_{k<j} L_ik L_jk) / L_jj. Reads and writes the lower triangle only.
bool cholesky(size_t size, double* matrix) {
  for (size_t i = 0; i < size; ++i) {
    double* row = matrix + i * size;
    for (size_t j = 0; j < i; ++j) {
      const double* other = matrix + j * size;
      row[j] = (row[j] - dense_dot(j, row, other)) / other[j];
    }
    const double pivot = row[i] - dense_dot(i, row, row);
    if (!(pivot > 0)) return false;
    row[i] = std::sqrt(pivot);
  }
  return true;
}

// Row i of the inverse: (e_i - sum_{k<i} L_ik row_k) / L_ii.
void invert_lower(size_t size, const double* lower, double* inverse) {
  for (size_t i = 0; i < size; ++i) {
    double* row = inverse + i * size;
    for (size_t j = 0; j < size; ++j) row[j] = 0;
    for (size_t k = 0; k < i; ++k) dense_axpy(k + 1, -lower[i * size + k], inverse + k * size, row);
    const double scale = 1 / lower[i * size + i];
    for (size_t j = 0; j < i; ++j) row[j] *= scale;
    row[i] = scale;
  }
}

void lower_multiply(size_t size, const double* lower, const double* x, double* out) {
  for (size_t i = 0; i < size; ++i) out[i] = dense_dot(i + 1, lower + i * size, x);
}

void lower_transposed_multiply(size_t size, const double* lower, const double* x, double* out) {
  for (size_t i = 0; i < size; ++i) out[i] = 0;
  for (size_t i = 0; i < size; ++i) dense_axpy(i + 1, x[i], lower + i * size, out);
}

}  // namespace
