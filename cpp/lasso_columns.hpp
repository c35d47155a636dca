// The design of the lasso by columns: dense (column-major) or sparse (CSC), never centered or scaled in memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "interrupt.hpp"
#include "kernels.hpp"

namespace ispca {

struct Columns {
  std::size_t rows = 0;
  std::size_t count = 0;
  const double* dense = nullptr;  // rows x count, column-major; null: sparse
  const double* data = nullptr;   // CSC
  const std::int32_t* indices = nullptr;
  const std::int64_t* indptr = nullptr;
  const Kernels* kernels = nullptr;

  bool is_dense() const { return dense != nullptr; }
  double entries() const {
    return is_dense() ? static_cast<double>(rows) * static_cast<double>(count) : static_cast<double>(indptr[count]);
  }

  double dot(std::size_t j, const double* r) const {
    if (dense) return kernels->lasso.dot(rows, dense + j * rows, r);
    const std::int64_t end = indptr[j + 1];
    std::int64_t k = indptr[j];
    double a = 0, b = 0, c = 0, d = 0;  // four sums: one would wait for each addition
    for (; k + 4 <= end; k += 4) {
      a += data[k] * r[indices[k]];
      b += data[k + 1] * r[indices[k + 1]];
      c += data[k + 2] * r[indices[k + 2]];
      d += data[k + 3] * r[indices[k + 3]];
    }
    for (; k < end; ++k) a += data[k] * r[indices[k]];
    return (a + b) + (c + d);
  }

  // out_k = x_(index_k) . r
  void dots(const std::size_t* index, std::size_t size, const double* r, double* out) const {
    if (dense) return kernels->lasso.column_dots(rows, dense, index, size, r, out);
    for (std::size_t k = 0; k < size; ++k) out[k] = dot(index[k], r);
  }

  // y += a x_j
  void add(std::size_t j, double a, double* y) const {
    if (dense) return kernels->lasso.axpy(rows, a, dense + j * rows, y);
    for (std::int64_t k = indptr[j]; k < indptr[j + 1]; ++k) y[indices[k]] += a * data[k];
  }

  // y += a v x_j, entry by entry
  void add_weighted(std::size_t j, double a, const double* v, double* y) const {
    if (dense) return kernels->lasso.weighted_axpy(rows, a, v, dense + j * rows, y);
    for (std::int64_t k = indptr[j]; k < indptr[j + 1]; ++k) y[indices[k]] += a * v[indices[k]] * data[k];
  }

  // sums = {sum v x_j, sum v x_j^2}
  void moments(std::size_t j, const double* v, double* sums) const {
    if (dense) return kernels->lasso.weighted_moments(rows, v, dense + j * rows, sums);
    sums[0] = sums[1] = 0;
    for (std::int64_t k = indptr[j]; k < indptr[j + 1]; ++k) {
      const double vx = v[indices[k]] * data[k];
      sums[0] += vx;
      sums[1] += vx * data[k];
    }
  }
};

// Weighted mean of each column and the inverse of its weighted standard deviation; 0 for a constant column.
struct Standardization {
  std::vector<double> mean, inverse_sd;
  Standardization(const Columns& x, const double* weight, const Poll& poll);
};

}  // namespace ispca
