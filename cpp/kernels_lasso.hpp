// Inner loops of coordinate descent: products of columns with vectors, and weighted columns.
#pragma once
#include <cstddef>

#include "kernels_cholesky.hpp"

namespace {
using std::size_t;

// out_k = x_(index_k) . r for the columns of a column-major matrix; four at a time share the loads of r
void column_dots(size_t rows, const double* matrix, const size_t* index, size_t count, const double* r, double* out) {
  size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const double *a = matrix + index[k] * rows, *b = matrix + index[k + 1] * rows;
    const double *c = matrix + index[k + 2] * rows, *d = matrix + index[k + 3] * rows;
    double sum_a = 0, sum_b = 0, sum_c = 0, sum_d = 0;
#pragma omp simd reduction(+ : sum_a, sum_b, sum_c, sum_d)
    for (size_t i = 0; i < rows; ++i) {
      sum_a += a[i] * r[i];
      sum_b += b[i] * r[i];
      sum_c += c[i] * r[i];
      sum_d += d[i] * r[i];
    }
    out[k] = sum_a, out[k + 1] = sum_b, out[k + 2] = sum_c, out[k + 3] = sum_d;
  }
  for (; k < count; ++k) out[k] = dense_dot(rows, matrix + index[k] * rows, r);
}

double lasso_dot(size_t size, const double* x, const double* y) { return dense_dot(size, x, y); }

void lasso_axpy(size_t size, double a, const double* x, double* y) { dense_axpy(size, a, x, y); }

// y += a v x, entry by entry
void weighted_axpy(size_t size, double a, const double* v, const double* x, double* y) {
#pragma omp simd
  for (size_t i = 0; i < size; ++i) y[i] += a * v[i] * x[i];
}

// sums = {sum v x, sum v x^2}
void weighted_moments(size_t size, const double* v, const double* x, double* sums) {
  double first = 0, second = 0;
#pragma omp simd reduction(+ : first, second)
  for (size_t i = 0; i < size; ++i) {
    const double vx = v[i] * x[i];
    first += vx;
    second += vx * x[i];
  }
  sums[0] = first, sums[1] = second;
}

}  // namespace
