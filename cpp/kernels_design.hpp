// Products with the design matrix: X b, X^T r and X^T W X.
#pragma once
#include "kernels.hpp"
#include "kernels_lanes.hpp"

namespace {
using ispca::Design;
using ispca::kRowBlock;
using std::size_t;

template <size_t kColumns, class Real>
void add_columns(size_t rows, const Real* columns, const double* coefficients, Real* predictor) {
  Real b[kColumns];
  for (size_t c = 0; c < kColumns; ++c) b[c] = static_cast<Real>(coefficients[c]);
#pragma omp simd
  for (size_t i = 0; i < rows; ++i) {
    Real sum = predictor[i];
    for (size_t c = 0; c < kColumns; ++c) sum += b[c] * columns[c * rows + i];
    predictor[i] = sum;
  }
}

template <class Real>
void predict(const Design<Real>& x, double intercept, const Real* offset, const double* coefficients, Real* predictor) {
  const Real start = static_cast<Real>(intercept);
  if (offset)
    for (size_t i = 0; i < x.rows; ++i) predictor[i] = start + offset[i];
  else
    for (size_t i = 0; i < x.rows; ++i) predictor[i] = start;
  size_t j = 0;
  for (; j + 8 <= x.columns; j += 8) add_columns<8>(x.rows, x.values + j * x.rows, coefficients + j, predictor);
  for (; j + 2 <= x.columns; j += 2) add_columns<2>(x.rows, x.values + j * x.rows, coefficients + j, predictor);
  for (; j < x.columns; ++j) add_columns<1>(x.rows, x.values + j * x.rows, coefficients + j, predictor);
}

// Four columns at a time share the loads of the weights and hide the latency of the additions.
template <class Real>
void four_dots(size_t rows, const Real* column, const Real* residual, double* gradient) {
  const Real *x0 = column, *x1 = column + rows, *x2 = column + 2 * rows, *x3 = column + 3 * rows;
  Real s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (size_t i = 0; i < rows; ++i) {
    const Real r = residual[i];
    s0 += x0[i] * r;
    s1 += x1[i] * r;
    s2 += x2[i] * r;
    s3 += x3[i] * r;
  }
  gradient[0] = s0;
  gradient[1] = s1;
  gradient[2] = s2;
  gradient[3] = s3;
}

template <class Real>
Real dot(size_t rows, const Real* x, const Real* r) {
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < rows; ++i) sum += x[i] * r[i];
  return sum;
}

// Partial sums stay apart until the last tile: adding up the lanes of a register costs more than filling it.
template <size_t kColumns, class Real>
void project_columns(size_t rows, const Real* columns, const Real* residual, Real* partial) {
  using Pack = Lanes<Real>;
  constexpr size_t kWidth = kLanes<Real>;
  Pack sums[kColumns];
  for (size_t c = 0; c < kColumns; ++c) sums[c] = load(partial + c * kRowBlock);
  for (size_t i = 0; i < rows; i += kWidth) {
    const Pack r = load(residual + i);
    for (size_t c = 0; c < kColumns; ++c) sums[c] += load(columns + c * rows + i) * r;
  }
  for (size_t c = 0; c < kColumns; ++c) store_lanes<Real>(sums[c], partial + c * kRowBlock);
}

template <class Real>
double project(const Design<Real>& x, const Real* residual, Real* partial) {
  size_t j = 0;
  const auto part = [&](size_t column) { return partial + column * kRowBlock; };
  for (; j + 8 <= x.columns; j += 8) project_columns<8>(x.rows, x.values + j * x.rows, residual, part(j));
  for (; j + 2 <= x.columns; j += 2) project_columns<2>(x.rows, x.values + j * x.rows, residual, part(j));
  for (; j < x.columns; ++j) project_columns<1>(x.rows, x.values + j * x.rows, residual, part(j));
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < x.rows; ++i) sum += residual[i];
  return sum;
}

// Adds up the lanes of each column: first to four per column, then four columns at once.
template <class Real>
void gather(size_t columns, Real* partial, double* gradient) {
  constexpr size_t kWidth = kLanes<Real>, kKept = kWidth < 4 ? kWidth : 4;
  for (size_t j = 0; j < columns; ++j) {
    const Real* lanes = partial + j * kRowBlock;
    Real sum[kKept];
    for (size_t i = 0; i < kKept; ++i) sum[i] = lanes[i];
    for (size_t first = kKept; first < kWidth; first += kKept)
      for (size_t i = 0; i < kKept; ++i) sum[i] += lanes[first + i];
    for (size_t i = 0; i < kKept; ++i) partial[j * kKept + i] = sum[i];  // never ahead of what is still to be read
  }
  for (size_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (size_t i = 0; i < kKept; ++i) sum += static_cast<double>(partial[j * kKept + i]);
    gradient[j] = sum;
  }
}

template <class Real>
void along(size_t rows, double intercept, const Real* base, double scale, const Real* direction, Real* predictor) {
  const Real a = static_cast<Real>(intercept), b = static_cast<Real>(scale);
#pragma omp simd
  for (size_t i = 0; i < rows; ++i) predictor[i] = a + b * direction[i];
  if (!base) return;
#pragma omp simd
  for (size_t i = 0; i < rows; ++i) predictor[i] += base[i];
}

template <class Real>
void weighted_gram(const Design<Real>& x, const Real* weight, Real* workspace, double* gram) {
  const size_t size = x.columns + 1;
  for (size_t j = 0; j < size; ++j) {
    const Real* column = j ? x.values + (j - 1) * x.rows : nullptr;
    for (size_t i = 0; i < x.rows; ++i) workspace[i] = column ? weight[i] * column[i] : weight[i];
    // row j of the lower triangle: entries with the intercept and with columns 1..j
    double* row = gram + j * size;
    double sums[4];
    for (size_t k = 1; k <= j; k += 4) {
      const size_t count = j + 1 - k < 4 ? j + 1 - k : 4;
      const Real* first = x.values + (k - 1) * x.rows;
      if (count == 4) four_dots(x.rows, first, workspace, sums);
      else
        for (size_t c = 0; c < count; ++c) sums[c] = dot(x.rows, first + c * x.rows, workspace);
      for (size_t c = 0; c < count; ++c) row[k + c] += sums[c];
    }
    double total = 0;
    for (size_t i = 0; i < x.rows; ++i) total += workspace[i];
    row[0] += total;
  }
}

}  // namespace
